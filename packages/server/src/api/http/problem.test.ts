import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import Type from 'typebox'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { runningQueries } from '../../../testing/processes/running-queries.ts'
import { until } from '../../../testing/until.ts'
import { createLogger } from '../../boot/start/log.ts'
import type { Authority } from '../access/authenticate.ts'
import { operation } from './operation.ts'
import { createServer } from './server.ts'

// One database is enough: problems are written without the database.

const warning = 40
const error = 50

type Line = { level: number; msg: string; requestId?: string; code?: string; err?: { stack?: string } }
const lines: Line[] = []
const notable = (requestId: string) => lines.filter((line) => line.requestId === requestId && line.level >= warning)

let app: TestApp
let own: Tenant
before(async () => {
  app = await testApp({}, (line) => void lines.push(JSON.parse(line)))
  own = await app.tenant('own')
})
after(() => app.close())

test('an outcome that operations declare is one warning without a stack', async () => {
  const agent = await app.call('POST', '/api/v1/agents', { key: own.developer, body: { name: 'a' } })
  const url = `/api/v1/agents/${agent.body.id}/invoke`
  const { status, headers } = await app.call('POST', url, { key: own.developer, body: { input: 'x' } })
  assert.equal(status, 503)
  const [line, another] = notable(String(headers['x-request-id']))
  assert.deepEqual([line?.level, line?.code, another], [warning, 'agent_unavailable', undefined])
  assert.doesNotMatch(JSON.stringify(line), /stack|node:internal|\.ts:\d/)
})

test('HEAD of a query, and a reader who leaves, are no errors', async () => {
  const source = "SELECT i AS id, repeat('x', 1000) AS text FROM generate_series(1, 100000) i"
  const body = { type: 'sql', name: 'long', source }
  const dataset = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  const url = `/api/v1/datasets/${dataset.body.id}/query`
  const head = await app.call('HEAD', url, { key: own.developer })
  assert.deepEqual([head.status, head.text], [200, ''])
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.http.server.address() as AddressInfo
  for (const accept of ['identity', 'br']) {
    const leaving = new AbortController()
    const headers = { 'x-api-key': own.developer, 'accept-encoding': accept }
    const answer = await fetch(`http://127.0.0.1:${port}${url}`, { headers, signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
  }
  await until(async () => (await runningQueries(app.admin)) === 0)
  assert.deepEqual(
    lines.filter(({ level, err }) => level >= warning || err?.stack),
    lines.filter(({ code }) => code === 'agent_unavailable'),
  )
})

test('a fault that nobody foresaw is an error with its stack', async () => {
  const own: Line[] = []
  const logger = createLogger('info', { write: (line: string) => void own.push(JSON.parse(line)) })
  const broken = operation({
    id: 'a.broken',
    method: 'GET',
    path: '/broken',
    summary: '',
    access: 'public',
    success: { status: 200, description: '', schema: Type.Unknown() },
    handle: () => Promise.reject(new TypeError('x is not a function')),
  })
  const options = { logger, trustProxy: false, bodyLimit: 1, isStopping: () => false }
  const http = await createServer([broken], {} as Authority, {}, options)
  assert.equal((await http.inject({ url: '/broken' })).statusCode, 500)
  await http.close()
  const [line] = own.filter(({ level }) => level >= warning)
  assert.equal(line?.level, error)
  assert.match(String(line?.err?.stack), /problem\.test\.ts/)
})

test('a list parameter without items is as if it were not there', async () => {
  const { id } = (await app.call('POST', '/api/v1/agents', { key: own.developer, body: { name: 'b' } })).body
  const whole = (await app.call('GET', `/api/v1/agents/${id}`, { key: own.developer })).body
  for (const query of ['fields=', 'fields=,', 'fields[]=', 'fields', 'join=', 'fields=&join=']) {
    assert.deepEqual(
      (await app.call('GET', `/api/v1/agents/${id}?${query}`, { key: own.developer })).body,
      whole,
      query,
    )
  }
  const list = await app.call('GET', '/api/v1/agents?fields=&sort=&join=&filter=', { key: own.developer })
  assert.deepEqual(list.body.at(-1), whole)
})
