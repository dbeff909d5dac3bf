import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { echo } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld } from '../../testing/agent-world.ts'

// One database is enough: the commands see only the API.

const text = readFileSync(new URL('../../../../docs/agents.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...text.matchAll(/```(\w+)\n(.*?)\n```/gs)].flatMap(([, kind, block = '']) => (kind === language ? [block] : []))

let world: AgentWorld
before(async () => {
  world = await agentWorld({ AGENT_BRIDGES: 'on' })
  const dataset = { type: 'sql', name: 'parks', source: 'SELECT 1 AS id' }
  const made = await world.app.call('POST', '/api/v1/datasets', { key: world.tenant.developer, body: dataset })
  assert.equal(made.status, 201, made.text)
})
after(() => world.close())

/** What each command of the page prints, in order. */
const answers: [command: RegExp, output: RegExp][] = [
  [/\/stream/, /event: done/],
  [/"type": "openai"/, /"id":"[0-9a-f-]{36}"/],
  [/"tools\/call"/, /"name":"parks"/],
]

test('the commands of docs/agents.md do what it says', async () => {
  const agentId = await world.agent()
  await world.worker(agentId, echo)
  const commands = blocks('sh')
  assert.equal(commands.length, answers.length)
  const env = { PATH: process.env.PATH ?? '', KEY: world.tenant.developer, AGENT: agentId }
  for (const [index, command] of commands.entries()) {
    const [named, expected] = answers[index] ?? [/^$/, /^$/]
    assert.match(command, named)
    const script = command.replaceAll('curl ', 'curl -sS ').replaceAll('localhost:8080', world.url)
    const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', script], { env })
    assert.match(stdout, expected, command)
  }
})

type Remote = { url: string; headers: Record<string, string> }
type Entry = Partial<Remote> & { command?: string; args?: string[] }

/** What a client does with its entry of a configuration. */
function remoteOf({ url = '', headers = {}, args = [] }: Entry): Remote {
  if (args.length === 0) return { url, headers }
  const [name = '', value = ''] = args[args.indexOf('--header') + 1]?.split(/:(.*)/s) ?? []
  return { url: args.find((word) => word.startsWith('https://')) ?? '', headers: { [name]: value } }
}

test('with each configuration of docs/agents.md a client reaches the tools', async (t) => {
  const configurations = blocks('json').map((block) => JSON.parse(block))
  assert.equal(configurations.length, 4)
  for (const { mcpServers, servers = mcpServers } of configurations) {
    const { url, headers } = remoteOf(servers.graticule)
    const filled = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/\$\{[\w:-]+\}/, world.tenant.public),
    ])
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    t.after(() => client.close())
    const address = new URL(url.replace('https://maps.example.org', world.url))
    const requestInit = { headers: Object.fromEntries(filled) }
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
    const { tools } = await client.listTools()
    // Each tool has its row in the table of the page, in the same order.
    assert.deepEqual(
      [...text.matchAll(/^\| `([a-z]+_?[a-z_]*)` +\| (?:read|execute)/gm)].map(([, name]) => name),
      tools.map(({ name }) => name),
    )
  }
})
