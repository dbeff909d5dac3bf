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
