import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, type TestContext, test } from 'node:test'
import { createPasswords } from '../src/api/access/secrets/passwords.ts'
import { limitsPage } from '../src/boot/documents/limits-page.ts'
import { ApiError } from '../src/kernel/errors.ts'
import type { Limit } from '../src/kernel/limits/limit.ts'
import { applicationLimitNames, type LimitName, limits } from '../src/kernel/limits/limits.ts'
import { loadConfig } from '../src/kernel/settings/config.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'

const settings = {
  BODY_LIMIT: '16384',
  STREAMS_PER_APPLICATION: '1',
  UPLOADS_ARRIVING: '1',
  UPLOADS_WAITING_PER_APPLICATION: '3',
  AGENT_INPUT_BYTES: '1024',
  UPLOAD_MAX_BYTES: '1000',
}

let app: TestApp
let own: Tenant
before(async () => {
  app = await testApp(settings)
  own = await app.tenant('own')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
})
after(() => app.close())

type Refusal = { status: number; body: { code?: string; limit?: number; limitName?: string } }

/** What an answer tells of a limit. */
const told = ({ status, body: { code, limit, limitName } }: Refusal) => ({ status, code, limit, limitName })

const styles = '/api/v1/styles'
const call = (method: string, path: string, request: object = {}) =>
  app.call(method, path, { key: own.developer, ...request })
const json = { 'content-type': 'application/json' }
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const keysOf = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 0])))

/** An answer to bytes of HTTP. */
async function raw(request: string): Promise<Refusal> {
  const socket = connect((app.http.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}

async function upload(bytes: number, { developer: key } = own): Promise<Refusal> {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  return call('POST', '/api/v1/uploads', { key, raw: `${head}${'a'.repeat(bytes)}\r\n--b--\r\n`, headers })
}

async function connectWorker(): Promise<Refusal> {
  const { body } = await call('POST', '/api/v1/agents', { body: { name: 'a' } })
  return raw(
    `GET /api/v1/agents/${body.id}/connect HTTP/1.1\r\nhost: a\r\nx-api-key: ${own.developer}\r\nconnection: upgrade\r\n` +
      'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
      'sec-websocket-protocol: svc.agent.v1\r\n\r\n',
  )
}

async function setLimits(own: Pick<Tenant, 'id'>, changed: object): Promise<void> {
  const reply = await app.call('PATCH', `/api/v1/applications/${own.id}`, { body: { limits: changed } })
  assert.equal(reply.status, 200, reply.text)
}

/** A body of metadata may be larger than the body limit of this server. */
async function putMetadata(text: string): Promise<Refusal> {
  const { body } = await call('POST', styles, { body: { name: 'a', style: { version: 8, sources: {}, layers: [] } } })
  return call('PUT', `${styles}/${body.id}/metadata`, { raw: text, headers: json })
}

/** Goes over a limit, or names the test that does and looks at `limitName`. */
type Case = string | { readonly limit: number; ask(t: TestContext): Promise<Refusal> }

const cases: Readonly<Record<LimitName, Case>> = {
  urlBytes: { limit: 8_192, ask: () => call('GET', `${styles}?filter[name]=${'a'.repeat(8_200)}`) },
  headerBytes: { limit: 32_768, ask: () => raw(`GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(50_000)}\r\n\r\n`) },
  headerCount: {
    limit: 100,
    ask: () => raw(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${'a: b\r\n'.repeat(99)}\r\n`),
  },
  queryParameters: { limit: 1_000, ask: () => call('GET', `${styles}?${'a&'.repeat(1_000)}a`) },
  queryDepth: { limit: 32, ask: () => call('GET', `${styles}?filter${'[a]'.repeat(40)}=1`) },
  offset: { limit: 1_000_000, ask: () => call('GET', `${styles}?offset=1000001`) },
  bodyBytes: { limit: 16_384, ask: () => call('POST', '/api/v1/datasets', { body: { name: 'a'.repeat(20_000) } }) },
  bodyDepth: { limit: 64, ask: () => call('POST', styles, { raw: nested(65), headers: json }) },
  bodyValues: {
    limit: 20_000,
    ask: () => putMetadata(`{"a":[${'0,'.repeat(20_000)}0]}`),
  },
  bodyCoordinates: {
    limit: 100_000,
    ask: () => putMetadata(`{"coordinates":[${'0,'.repeat(100_000)}0]}`),
  },
  documentValues: {
    limit: 100_000,
    ask: () => call('POST', styles, { raw: `[${'[],'.repeat(100_000)}0]`, headers: json }),
  },
  bodyKeys: { limit: 10_000, ask: () => call('POST', styles, { raw: keysOf(10_001), headers: json }) },
  keyBytes: { limit: 1_024, ask: () => call('POST', styles, { raw: `{"${'k'.repeat(1_025)}":0}`, headers: json }) },
  names: {
    limit: 2_000,
    async ask() {
      const { body } = await call('POST', '/api/v1/datasets', {
        body: { type: 'sql', name: 'a', source: 'SELECT 1 AS a' },
      })
      return call('POST', `/api/v1/datasets/${body.id}/query`, { body: { order: Array(2_001).fill('a') } })
    },
  },
  filterPositions: 'query/filter/spatial-operand.test.ts',
  areaCrossings: 'query/filter/spatial-operand.test.ts',
  placeText: { limit: 200, ask: () => call('GET', `/api/v1/places?q=${'a'.repeat(201)}`) },
  placesFound: { limit: 50, ask: () => call('GET', '/api/v1/places?q=a&limit=51') },
  styleLayers: 'tenants/cartography/styles/style-size.test.ts',
  styleSources: 'tenants/cartography/styles/style-size.test.ts',
  stylePictureBytes: 'tenants/cartography/pictures/pictures.test.ts',
  stylePicturePixels: 'tenants/cartography/pictures/pictures.test.ts',
  styleValues: 'tenants/cartography/styles/style-size.test.ts',
  expressionValues: 'tenants/cartography/styles/style-size.test.ts',
  expressionDepth: 'tenants/cartography/styles/style-size.test.ts',
  bodyMs: 'api/http/server.test.ts',
  metadataBytes: {
    limit: 65_536,
    async ask() {
      const body = { name: 'a', style: { version: 8, sources: {}, layers: [] }, metadata: { a: 'a'.repeat(65_536) } }
      return call('POST', styles, { body })
    },
  },
  configBytes: {
    limit: 1_048_576,
    ask: () => call('POST', '/api/v1/appconfig', { body: { config: { a: 'a'.repeat(1_048_576) } } }),
  },
  connections: 'api/http/connections/connection-limit.test.ts',
  applicationConnections: 'api/http/connection-shares.test.ts',
  requestsPerConnection: 'api/http/connection-shares.test.ts',
  requestsPerSecond: {
    limit: 1,
    async ask() {
      const limited = await app.tenant('limited')
      await setLimits(limited, { requestsPerSecond: 1 })
      app.services.keys.forgetApplication(limited.id)
      for (;;) {
        const reply = await app.call('GET', styles, { key: limited.public })
        if (reply.status !== 200) return reply
      }
    },
  },
  loginFailures: 'tenants/auth/password.test.ts',
  addressFailures: 'tenants/apikeys/exchange-operation.test.ts',
  signups: 'tenants/auth/account-limits.test.ts',
  resetMails: 'tenants/auth/account-limits.test.ts',
  sessionsPerUser: 'tenants/auth/account-limits.test.ts',
  passwordsWaiting: {
    limit: 500,
    async ask() {
      const passwords = createPasswords(undefined, { memoryCost: 8, timeCost: 1, parallelism: 1 })
      const all = await Promise.allSettled(Array.from({ length: 503 }, () => passwords.hash('one', 'a')))
      return answerOf(all.find(({ status }) => status === 'rejected'))
    },
  },
  queriesAtOnce: {
    limit: 1,
    async ask() {
      const { body } = await call('POST', '/api/v1/datasets', {
        body: { type: 'sql', name: 'a', source: 'SELECT 1 AS a' },
      })
      const release = await app.services.slots.take(own.id, new AbortController().signal)
      const reply = await call('GET', `/api/v1/datasets/${body.id}/query`)
      release()
      return reply
    },
  },
  queryConnections: 'data/databases/connection-limits.test.ts',
  allQueryConnections: '../system-tests/queue-limits.test.ts',
  queriesWaiting: 'kernel/db/session-queue.test.ts',
  answersHeldBytes: '../system-tests/queue-limits.test.ts',
  fileQueries: '../system-tests/queue-limits.test.ts',
  fileApplications: '../system-tests/queue-limits.test.ts',
  changeListeners: 'data/changes/streams.test.ts',
  queryTimeoutMs: 'data/datasets/dataset.test.ts',
  writtenRows: 'data/editing/insert.test.ts',
  changedRows: 'data/editing/filter.test.ts',
  rowValues: 'data/editing/rows-budget.test.ts',
  coordinateValues: 'data/editing/rows-budget.test.ts',
  rowsValues: 'data/editing/rows-budget.test.ts',
  writesAtOnce: 'data/editing/insert.test.ts',
  rowsInMemory: 'query/plan/plan-rows.test.ts',
  exportBytes: 'data/datasets/export-requests.test.ts',
  exportsAtOnce: '../system-tests/queue-limits.test.ts',
  allExportsAtOnce: '../system-tests/queue-limits.test.ts',
  exportsReadBytes: 'data/datasets/exports/export-files.test.ts',
  readerBytesPerSecond: 'api/http/connections/stuck-readers.test.ts',
  exportsWaiting: '../system-tests/queue-limits.test.ts',
  tilesAtOnce: 'data/tiles/cache/read-through-cache.test.ts',
  allTilesAtOnce: '../system-tests/queue-limits.test.ts',
  aggregateCells: 'data/tiles/aggregate/aggregates.test.ts',
  tileConnections: 'data/tiles/workers/raw-pools.test.ts',
  archiveReads: '../system-tests/queue-limits.test.ts',
  uploadBytes: { limit: 1_000, ask: () => upload(2_000) },
  unfinishedUploads: 'data/uploads/record/upload.test.ts',
  uploadsPerHour: {
    limit: 1,
    async ask() {
      const limited = await app.tenant('uploading')
      await setLimits(limited, { uploadsPerHour: 1 })
      await upload(10, limited)
      return upload(10, limited)
    },
  },
  uploadsArriving: {
    limit: 1,
    async ask() {
      const arrival = await app.services.uploading.arrive(own.id, randomUUID(), 0)
      const reply = await upload(10)
      await arrival.end()
      return reply
    },
  },
  storageBytes: {
    limit: 5,
    async ask() {
      await setLimits(own, { storageBytes: 5 })
      const reply = await upload(10)
      await setLimits(own, { storageBytes: null })
      return reply
    },
  },
  messagesPerMinute: {
    limit: 1,
    async ask() {
      const { id, developer: key } = await app.tenant('sending')
      await setLimits({ id }, { messagesPerMinute: 1 })
      const point = { name: 'a', type: 'email', settings: { addresses: ['a@x.org'] } }
      const { body } = await call('POST', '/api/v1/contactpoints', { key, body: point })
      const send = () => call('POST', `/api/v1/contactpoints/${body.id}/send`, { key, body: { message: 'a' } })
      assert.equal((await send()).status, 202)
      return send()
    },
  },
  messagesWaiting: 'tenants/contactpoints/deliveries.test.ts',
  contactPointBindings: 'data/webhooks/webhook-operations.test.ts',
  bindings: 'data/webhooks/webhook-operations.test.ts',
  agentInputBytes: 'agents/failures.test.ts',
  agentInvocations: 'agents/failures.test.ts',
  bridgeCalls: 'agents/bridges/bridges.test.ts',
  workerConnects: {
    limit: 10,
    ask(t) {
      t.mock.method(app.services, 'mayConnectWorker', () => false)
      return connectWorker()
    },
  },
  agentWorkers: {
    limit: 32,
    ask(t) {
      t.mock.method(app.services.agents, 'workersOf', () => Array(32).fill({}))
      return connectWorker()
    },
  },
  applicationWorkers: {
    limit: 256,
    ask(t) {
      t.mock.method(app.services.agents.workers, 'countOf', () => 256)
      return connectWorker()
    },
  },
}

function answerOf(failed: PromiseSettledResult<unknown> | undefined): Refusal {
  assert.ok(failed?.status === 'rejected' && failed.reason instanceof ApiError)
  const { status, code, extensions } = failed.reason
  return { status, body: { code, ...extensions } }
}

describe('whoever goes over a limit is told its code, value and name', () => {
  for (const [name, one] of Object.entries(cases) as [LimitName, Case][]) {
    const { code }: Limit = limits[name]
    test(name, async (t) => {
      if (typeof one === 'string') {
        const source = readFileSync(new URL(`../src/${one}`, import.meta.url), 'utf8')
        const isRefused = typeof code === 'string'
        return assert.match(source, new RegExp(isRefused ? `limitName: '${name}'` : name), `${one} looks at it`)
      }
      assert.ok(typeof code === 'string', 'only what is refused has an answer')
      const { status } = new ApiError(code, '')
      assert.deepEqual(told(await one.ask(t)), { status, code, limit: one.limit, limitName: name })
    })
  }
})

test('an application has the limits that a master key gave it, reads them, and cannot change them', async () => {
  const tenant = await app.tenant('special')
  const path = `/api/v1/applications/${tenant.id}`
  const given = {
    applicationConnections: 6,
    messagesPerMinute: 9,
    queriesAtOnce: 1,
    requestsPerSecond: 50,
    sessionsPerUser: 3,
    storageBytes: 1_000_000,
    unfinishedUploads: 7,
    uploadsPerHour: 8,
  }
  await setLimits(tenant, given)
  const read = await app.call('GET', path, { key: tenant.reader })
  assert.deepEqual(read.body.limits, given)
  const [usage] = (await app.call('GET', '/api/v1/usage', { key: tenant.reader })).body
  assert.deepEqual(usage.limits, given)
  for (const [method, address, body] of [
    ['PATCH', path, { limits: {} }],
    ['PUT', path, { name: 'x', limits: {} }],
  ] as const) {
    assert.equal((await app.call(method, address, { key: tenant.developer, body })).status, 401)
  }
  assert.equal((await app.call('PUT', path, { body: { name: 'x' } })).status, 200)
  assert.deepEqual((await app.call('GET', path)).body.limits, given, 'PUT without them keeps them')
  for (const wrong of [{ queriesAtOnce: 0 }, { queriesAtOnce: 1.5 }, { queriesAtOnce: '1' }, { tiles: 1 }, [], 1]) {
    const reply = await app.call('PATCH', path, { body: { limits: wrong } })
    assert.equal(reply.status, 400, JSON.stringify(wrong))
  }
})

test('every setting that a limit names exists, and the names that an application may have are those of the table', () => {
  const config: Readonly<Record<string, unknown>> = loadConfig({ STORAGE_PER_APPLICATION: '1' })
  const all = Object.entries<Limit>(limits)
  for (const [name, limit] of all) if ('setting' in limit) assert.ok(limit.setting in config, name)
  const perApplication = all.filter(([, limit]) => limit.isPerApplication).map(([name]) => name)
  assert.deepEqual(perApplication.toSorted(), [...applicationLimitNames])
})

test('docs/limits.md is what the table of limits says', () => {
  const page = new URL('../../../docs/limits.md', import.meta.url)
  assert.ok(existsSync(page))
  assert.equal(readFileSync(page, 'utf8'), limitsPage(), 'run npm run generate')
})
