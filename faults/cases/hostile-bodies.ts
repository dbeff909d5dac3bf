import { setTimeout as sleep } from 'node:timers/promises'
import { allowedRoom, anyRoom, shapes } from '../../packages/server/testing/hostile/largest-values.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call } from '../http.ts'
import { described, type Load, p, startLoad } from '../load.ts'
import { make, makeLayer, makeTenant, pointsSql } from '../tenants.ts'

const p99Ms = 250
const livenessMs = 100
const hostileKeys = 4
const bodyBytes = 1_048_576

/** What a public key may send: queries of a dataset, and messages to the tools, of which each is refused. */
function attacks(dataset: string): { path: string; body: string }[] {
  const query = `/api/v1/datasets/${dataset}/query`
  const within = allowedRoom(bodyBytes)
  const tool = (given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_dataset","arguments":{"datasetId":"${dataset}",${given}}}}`
  return [
    { path: query, body: `{"attributes":${shapes.emptyLists(within)}}` },
    { path: query, body: `{"attributes":${shapes.shortTexts(within)}}` },
    { path: query, body: `{"order":${shapes.shortTexts(within)}}` },
    { path: query, body: `{"where":${shapes.shortKeys(within)}}` },
    { path: query, body: `{"where":{"$or":${shapes.emptyObjects(within)}}}` },
    {
      path: query,
      body: `{"where":{"geom":{"$intersects":{"type":"MultiPoint","coordinates":${shapes.deep(within)}}}}}`,
    },
    { path: query, body: shapes.emptyLists(anyRoom(bodyBytes)) },
    { path: '/api/v1/mcp', body: tool(`"attributes":${shapes.shortTexts(within)}`) },
    { path: '/api/v1/mcp', body: tool(`"where":{"$or":${shapes.emptyObjects(within)}}`) },
  ]
}

async function run(context: FaultContext): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const server = await context.server({ DATABASE_URL, REQUESTS_PER_SECOND: '1000' })
  const [good, hostile] = [await makeTenant(server, 'good'), await makeTenant(server, 'hostile')]
  const { dataset } = await makeLayer(server, good, pointsSql(2_000))
  const target = await makeLayer(server, hostile, pointsSql(10))
  const permissions = { datasets: { read: '*', execute: '*' } }
  const keys = await Promise.all(
    Array.from({ length: hostileKeys }, () =>
      make(server, 'apikeys', { type: 'app', applicationId: hostile.id, permissions }),
    ),
  )
  const agent = context.agent(2)
  const ask = (path: string, key?: string) => (): Promise<Awaited<ReturnType<typeof call>>> =>
    call(server.url, 'GET', path, { ...(key && { key }), agent })
  const measure = async (ms: number): Promise<{ queries: Load; liveness: Load }> => {
    const isKept = ({ status }: { status: number }) => status === 200
    const queries = startLoad({
      clients: 1,
      pauseMs: 20,
      isKept,
      ask: ask(`/api/v1/datasets/${dataset}/query?limit=20`, good.key),
    })
    const liveness = startLoad({ clients: 1, pauseMs: 20, isKept, ask: ask('/api/v1/liveness') })
    await sleep(ms)
    await Promise.all([queries.stop(), liveness.stop()])
    return { queries, liveness }
  }
  await measure(2_000)
  const alone = await measure(context.size(3_000, 10_000))
  // The first message to the tools loads the library of their protocol, once in the life of a process (docs/promises.md).
  await call(server.url, 'POST', '/api/v1/mcp', {
    key: good.key,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })
  const bodies = attacks(target.dataset)
  const attack = startLoad({
    clients: hostileKeys,
    ask(client, turn) {
      const { path = '', body: raw = '' } = bodies[turn % bodies.length] ?? {}
      const headers = { 'content-type': 'application/json' }
      return call(server.url, 'POST', path, { key: keys[client]?.id, raw, headers })
    },
    isKept: ({ status }) => status < 500,
    isKeptError: () => true,
  })
  const under = await measure(context.size(5_000, 30_000))
  await attack.stop()
  expect(under.queries.broken.size === 0, () => `the good tenant got ${described(under.queries.broken)}`)
  expect(attack.broken.size === 0, () => `the attackers got ${described(attack.broken)}`)
  const [query, live] = [p(under.queries.times, 0.99), p(under.liveness.times, 0.99)]
  expect(query <= context.allowed(p99Ms), () => `p99 of queries ${query} ms, alone ${p(alone.queries.times, 0.99)} ms`)
  expect(live <= context.allowed(livenessMs), () => `p99 of liveness ${live} ms`)
  return {
    'p50 and p99 of queries alone': `${p(alone.queries.times, 0.5)} and ${p(alone.queries.times, 0.99)} ms`,
    'p50 and p99 of queries under attack': `${p(under.queries.times, 0.5)} and ${query} ms`,
    'p50 and p99 of liveness under attack': `${p(under.liveness.times, 0.5)} and ${live} ms`,
    'answers to the attackers': described(attack.statuses),
  }
}

export const hostileBodies: Fault = {
  name: 'hostile-bodies',
  promise:
    'Four clients with public keys who send the largest bodies that are refused leave another tenant a p99 of 250 ms, and liveness one of 100 ms',
  run,
}
