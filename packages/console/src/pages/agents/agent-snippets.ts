/** Code snippets that serve and invoke an agent. `YOUR_KEY` is a placeholder, so that the session's key is not copied. */
import { serverUrl } from '../../address.ts'

const url = serverUrl.replace(/\/$/, '')

export const installLine = 'npm install @graticule/agent'

/** A complete worker, which answers with the question in capitals, word by word. */
export const workerSnippet = (agentId: string): string => `import { serveAgent } from '@graticule/agent'

const server = { url: '${url}', apiKey: 'YOUR_KEY', agentId: '${agentId}' }
await serveAgent(server, async function* ({ input }) {
  for (const word of input.split(' ')) yield \`\${word.toUpperCase()} \`
})
`

/**
 * A complete worker that needs no model: it finds the dataset that the question names, by the platform's tools and with the rights of
 * whoever asks, and tells its rows.
 */
export const dataWorkerSnippet = (agentId: string): string => `import { serveAgent } from '@graticule/agent'

const server = { url: '${url}', apiKey: 'YOUR_KEY', agentId: '${agentId}' }

async function call({ mcpUrl, token }, name, args) {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const reply = await fetch(mcpUrl, {
    method: 'POST',
    headers: { authorization: \`Bearer \${token}\`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(request),
  })
  const { result, error } = await reply.json()
  if (error || result.isError) throw new Error(error?.message ?? result.content[0].text)
  return result.structuredContent
}

await serveAgent(server, async function* ({ input, tools }) {
  const { datasets } = await call(tools, 'list_datasets', {})
  const words = input.toLowerCase()
  const dataset = datasets.find(({ name }) => name.toLowerCase().split(/\\W+/).some((word) => word.length > 3 && words.includes(word)))
  if (!dataset) {
    yield \`I know \${datasets.map(({ name }) => name).join(', ')}. Name one of them.\`
    return
  }
  const { rows } = await call(tools, 'query_dataset', { datasetId: dataset.id, limit: 5 })
  yield \`\${dataset.name} has about \${dataset.rowEstimate ?? 'an unknown number of'} rows. The first:\\n\`
  for (const row of rows) yield \`- \${Object.values(row).join(', ')}\\n\`
})
`

export const commandSnippet = (agentId: string): string =>
  `export GRATICULE_URL=${url} GRATICULE_API_KEY=YOUR_KEY
npx graticule-agent serve --agent ${agentId} --command 'tr a-z A-Z'
`

export const askSnippet = (agentId: string): string =>
  `curl -N ${url}/api/v1/agents/${agentId}/stream -H 'x-api-key: YOUR_KEY' \\
  -H 'content-type: application/json' -d '{"input": "hello world"}'
`

export const mcpSnippet = (): string =>
  JSON.stringify(
    {
      mcpServers: {
        graticule: { type: 'http', url: `${url}/api/v1/mcp`, headers: { Authorization: 'Bearer YOUR_KEY' } },
      },
    },
    null,
    2,
  )

export const mcpCommand = (): string =>
  `claude mcp add --transport http graticule ${url}/api/v1/mcp --header "Authorization: Bearer YOUR_KEY"`
