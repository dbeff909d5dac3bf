import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { AclLevel, Permissions } from '../src/api/access/grants.ts'
import { isAudited } from '../src/api/http/audit-log.ts'
import type { DeclaredOperation } from '../src/api/http/operation.ts'
import { openApiDocument } from '../src/boot/documents/openapi-document.ts'
import { sql } from '../src/kernel/db/sql.ts'
import { operations } from '../src/operations.ts'
import { connectWorker, type TestWorker } from '../testing/agent-worker.ts'
import { type Reply, type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { type Occasion, occasionFor } from '../testing/hostile/occasions.ts'
import { uploadRecord } from '../testing/uploads/upload-record.ts'

// Every operation there is goes through every case: a new one needs no line here.
const guarded = operations.filter((operation) => typeof operation.access === 'object')

let app: TestApp
let own: Tenant
let foreign: Tenant
type Document = { paths: Record<string, Record<string, { responses: object; security: unknown[] }>> }
let document: Document
/** That of the operations below /ogc. */
let ogcDocument: Document
const workers: TestWorker[] = []
/** The invocation that was made for an agent. */
const invocations = new Map<string, string>()
before(async () => {
  document = JSON.parse(await openApiDocument())
  app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  ogcDocument = (await app.call('GET', '/ogc/api')).body
  own = await app.tenant('own')
  foreign = await app.tenant('foreign')
})
after(async () => {
  for (const worker of workers) worker.kill()
  await app.close()
})

describe('every operation', () => {
  for (const operation of operations) {
    test(`${operation.id} is documented`, () => {
      const entry = documentedPath(operation)?.[operation.method.toLowerCase()]
      assert.ok(entry, 'it stands in the OpenAPI document')
      assert.ok(Object.hasOwn(entry.responses, operation.success.status), 'with its success')
      assert.equal(entry.security.length === 0, operation.access === 'public', 'and with its security')
    })
  }
})

describe('without a key', () => {
  for (const operation of operations.filter(({ access }) => access !== 'public')) {
    test(`${operation.id} is refused`, async () => {
      const url = address(operation, randomUUID())
      const occasion = await occasionFor(app, operation, own)
      for (const key of [null, 'nonsense', randomUUID()]) {
        const reply = await send(operation, url, key, { occasion })
        assert.equal(reply.status, 401)
        assert.equal(reply.body.code, 'unauthorized')
        assert.ok(reply.headers['www-authenticate'])
      }
    })
  }
})

describe('with a key of all levels but the needed one', () => {
  for (const operation of guarded) {
    test(`${operation.id} is refused`, async () => {
      const key = await keyOfAllBut(rule(operation))
      const id = await make(operation, own)
      const before = await look(operation, id)
      assert.equal((await send(operation, address(operation, id), key)).status, 401)
      assert.equal(await look(operation, id), before)
    })
  }
})

describe('with a key that may only append to every dataset', () => {
  for (const operation of guarded.filter(({ success }) => success.status !== 101)) {
    const isAllowed = rule(operation).level === 'append'
    test(`${operation.id} is ${isAllowed ? 'allowed' : 'refused'}`, async () => {
      const key = await keyOf({ datasets: { append: '*' } })
      const id = await make(operation, own)
      const before = await look(operation, id)
      const reply = await send(operation, address(operation, id), key)
      assert.equal(reply.status, isAllowed ? operation.success.status : 401, reply.text)
      assert.equal(reply.headers.etag, undefined)
      if (!isAllowed) assert.equal(await look(operation, id), before)
    })
  }
})

describe('with the public key that an application is made with', () => {
  const granted = ['datasets', 'styles', 'tiles'].flatMap((one) => [`${one} read`, `${one} execute`])
  granted.push('appconfig execute', 'auth execute')
  // The stream that never ends has a test of its own.
  for (const operation of guarded.filter(({ id }) => id !== 'datasets.changes')) {
    const { class: aclClass, level } = rule(operation)
    const isAllowed = granted.includes(`${aclClass} ${level}`)
    test(`${operation.id} is ${isAllowed ? 'allowed' : 'refused'}`, async () => {
      const id = await make(operation, own)
      const before = await look(operation, id)
      const reply = await send(operation, address(operation, id), own.public)
      assert.equal(reply.status, isAllowed ? operation.success.status : 401, reply.text)
      if (!isAllowed) assert.equal(await look(operation, id), before)
    })
  }
})

describe('on a record of another tenant', () => {
  for (const operation of guarded.filter(isAboutRecord)) {
    test(`${operation.id} answers as on one that never was`, async () => {
      const id = await make(operation, foreign)
      const absent = absentLike(id)
      const before = await look(operation, id)
      const refused = await send(operation, address(operation, id), own.developer)
      const missing = await send(operation, address(operation, absent), own.developer)
      assert.equal(refused.status, isForMaster(operation) ? 401 : 404)
      assert.deepEqual(comparable(refused, id), comparable(missing, absent))
      assert.equal(await look(operation, id), before, 'and changes nothing')
    })
  }
})

describe('with a body that is not even JSON', () => {
  const raw = '{'.repeat(1_000)
  const headers = { 'content-type': 'application/json' }
  const withBody = operations.filter(({ body, access }) => body && access !== 'public')
  for (const operation of withBody) {
    test(`${operation.id} is refused without a key before the body is looked at`, async () => {
      const reply = await app.call(operation.method, address(operation, randomUUID()), { key: null, raw, headers })
      assert.equal(reply.status, 401)
    })
  }
  for (const operation of withBody.filter(isAboutRecord)) {
    test(`${operation.id} is 404 for an absent record before the body is looked at`, async () => {
      const key = isForMaster(operation) ? app.master : own.developer
      const reply = await app.call(operation.method, address(operation, randomUUID()), { key, raw, headers })
      assert.equal(reply.status, 404, `its \`beforeBody\` looks the record up: ${reply.text}`)
    })
  }
})

describe('on a record outside the key’s list of ids', () => {
  for (const operation of guarded.filter(isAboutRecord)) {
    test(`${operation.id} is refused, whether the record is there or not`, async () => {
      const key = await keyOfAnotherRecord(rule(operation))
      const id = await make(operation, own)
      const absent = absentLike(id)
      const refused = await send(operation, address(operation, id), key)
      assert.equal(refused.status, 401)
      assert.deepEqual(
        comparable(refused, id),
        comparable(await send(operation, address(operation, absent), key), absent),
      )
    })
  }
})

describe('with the right key', () => {
  // What becomes a WebSocket, and the stream that never ends, have tests of their own.
  for (const operation of operations.filter(({ id, success }) => success.status !== 101 && id !== 'datasets.changes')) {
    test(`${operation.id} answers ${operation.success.status}`, async () => {
      const id = await make(operation, own)
      const key = isForMaster(operation) ? app.master : own.developer
      const reply = await send(operation, address(operation, id), operation.access === 'public' ? null : key)
      assert.equal(reply.status, operation.success.status, reply.text)
      assert.ok(reply.headers['x-request-id'])
      const isCertain = operation.audit !== 'ifSecret'
      const expected = isAudited(operation) ? [operation.success.status] : []
      const hint = 'its entries of the audit log; one that the handler writes is marked by `trail.isWritten`'
      if (isCertain) assert.deepEqual(await auditOf(reply, operation), expected, hint)
    })
  }
})

test('operations that write and are not in the audit log say why', () => {
  const others = operations.filter((operation) => operation.method !== 'GET' && !isAudited(operation))
  assert.deepEqual(
    others.map(({ id }) => id),
    [
      ...[
        'auth.refresh',
        'databases.testDraft',
        'datasets.queryAdvanced',
        'databases.query',
        'datasets.tryRules',
        'agents.invoke',
        'agents.stream',
        'mcp.call',
      ],
      ...['ogc.itemsOptions', 'ogc.itemOptions'],
    ],
  )
  for (const { audit } of others) assert.match(typeof audit === 'object' ? audit.none : '', /^[A-Z].+\.$/)
})

describe('with a query parameter that it does not have', () => {
  // What a page of the console shows is in its address, in parameters that the page alone knows; providers add what they like.
  const takesAny = /^(console\.(home|page)|auth\.oidc\.callback)$/
  for (const operation of operations.filter(({ id }) => !takesAny.test(id))) {
    test(`${operation.id} is refused, and changes nothing`, async () => {
      const id = await make(operation, own)
      const before = await look(operation, id)
      const key = operation.access === 'public' ? null : isForMaster(operation) ? app.master : own.developer
      const reply = await send(operation, address(operation, id), key, { query: 'keepDatta=true' })
      assert.equal(reply.status, 400, reply.text)
      assert.match(reply.body.errors[0].path, /keepDatta/)
      assert.equal(await look(operation, id), before)
    })
  }
})

test('no list shows a record of another tenant', async () => {
  const lists = guarded.filter(
    (operation) =>
      // The audit log has no records that could be made here, and a user has only what is the user's: their own tests look.
      (operation.id.endsWith('.list') &&
        !isForMaster(operation) &&
        !operation.bearer &&
        operation.id !== 'audit.list') ||
      operation.id === 'appconfig.get',
  )
  assert.ok(lists.length >= 4)
  for (const operation of lists) {
    const made = await make({ ...operation, path: `${operation.path}/{id}` }, foreign)
    // A configuration has the id of its application.
    const id = made === 'theme' ? foreign.id : made
    const url = `${operation.path}?limit=10000&sort=createdAt`
    const seen = await app.call('GET', url, { key: own.developer })
    assert.equal(seen.status, 200, operation.id)
    assert.ok(!seen.text.includes(id), operation.id)
    assert.ok((await app.call('GET', url)).text.includes(id), `${operation.id}: the master key does see it`)
  }
})

/** The statuses that the audit log has of this operation for the request. */
async function auditOf({ headers }: Reply, { id }: DeclaredOperation): Promise<number[]> {
  await app.services.audit.flush()
  const entries = await app.db.query<{ status: number }>(
    sql`SELECT status FROM svc.audit WHERE request_id = ${String(headers['x-request-id'])} AND action = ${id}`,
  )
  return entries.map(({ status }) => status)
}

/** Operations by a standard of OGC are in a document by that standard, which has names of its own. */
function documentedPath({ path }: DeclaredOperation) {
  if (!path.startsWith('/ogc')) return document.paths[path]
  return ogcDocument.paths[path.slice('/ogc'.length).replace('{id}', '{collectionId}') || '/']
}

function rule(operation: DeclaredOperation): { class: string; level: AclLevel } {
  if (typeof operation.access !== 'object') throw new Error('not guarded')
  const { class: aclClass, level } = operation.access
  return { class: aclClass, level: typeof level === 'function' ? level({ params: {}, query: {} }) : level }
}

type Rule = ReturnType<typeof rule>

const keysByAcl = new Map<string, Promise<string>>()

/** One key for each ACL. */
function keyOf(permissions: Permissions): Promise<string> {
  const name = JSON.stringify(permissions)
  const key = keysByAcl.get(name) ?? app.key(own.id, permissions)
  keysByAcl.set(name, key)
  return key
}

/** Without `write` where `append` is needed, because write includes it. */
const keyOfAllBut = ({ class: aclClass, level }: Rule) =>
  keyOf({
    '*': { '*': '*' },
    [aclClass]: { '*': '*', [level]: [], ...(level === 'append' && { write: [] }) },
  })
const anotherId = randomUUID()
const keyOfAnotherRecord = (rule: Rule) => keyOf({ [rule.class]: { [rule.level]: [anotherId] } })

function isForMaster({ access }: DeclaredOperation): boolean {
  return typeof access === 'object' && access.master === true
}

/** The id in the address is a record's (and not, say, the key of a configuration). */
function isAboutRecord({ path, access }: DeclaredOperation): boolean {
  const isOwnRule = typeof access === 'object' && access.id !== undefined
  return path.includes('{id}') && typeof access === 'object' && (!isOwnRule || path.startsWith('/ogc/'))
}

function address(operation: DeclaredOperation, id: string): string {
  if (operation.id === 'ogc.asset') return '/ogc/assets/page.css'
  const query = queries[operation.id] ?? ''
  const path = operation.path
    .replace('{id}', id)
    .replace('{invocationId}', invocations.get(id) ?? randomUUID())
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples[name] ?? name))
  return path + query
}

/** What an operation demands of the query string. */
const queries: Readonly<Record<string, string>> = {
  'datasets.changeRows': '?filter[id]=1&expect=1',
  'datasets.deleteRows': '?filter[id]=1&expect=1',
  'places.search': '?q=bern',
}

/** What may stand in an address besides an id. */
const examples: Readonly<Record<string, string>> = {
  key: 'colour',
  file: 'start.js',
  name: 'one',
  z: '0',
  x: '0',
  y: '0',
  ext: 'mvt',
  fontstack: 'Noto Sans Regular',
  range: '0-255',
  path: 'light.json',
  featureId: '1',
  rowKey: '1',
  column: 'name',
  tileMatrixSetId: 'WebMercatorQuad',
  tileMatrix: '0',
  tileRow: '0',
  tileCol: '0',
}

const homes: Readonly<Record<string, string>> = {
  '/tiles': '/api/v1/tilesources',
  '/maps': '/api/v1/styles',
  '/ogc/collections': '/api/v1/datasets',
}

/** Where the records are that an operation is about. */
function homeOf({ path }: DeclaredOperation): string {
  const [base = ''] = path.split('/{id}')
  return homes[base] ?? base
}

async function send(
  operation: DeclaredOperation,
  url: string,
  key: string | null,
  { query = '', ...given }: { query?: string; occasion?: Occasion } = {},
): Promise<Reply> {
  const asked = (address: string) => (query ? `${address}${address.includes('?') ? '&' : '?'}${query}` : address)
  if (operation.multipart) return app.call(operation.method, asked(url), { key, ...form })
  const [example] = ((operation.body as { examples?: unknown[] } | undefined)?.examples ?? []) as unknown[]
  const occasion = given.occasion ?? (await occasionFor(app, operation, own))
  const body = occasion.body ?? unique(operation, example)
  return app.call(operation.method, asked(occasion.url ?? url), { key, body, headers: occasion.headers ?? {} })
}

/** No two users of an application have the same address, and of some resources no two records the same name. */
function unique({ id }: DeclaredOperation, example: unknown): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example
  const isRecord = /^\w+\.(create|replace|patch)$/.test(id)
  return {
    ...example,
    ...(isRecord && 'name' in example && { name: randomUUID() }),
    ...('email' in example && { email: `${randomUUID()}@example.org` }),
  }
}

const form = {
  raw: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nlon,lat\n1,2\n\r\n--b--\r\n',
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
}

/** A record that the operation can be about, made with its resource's own example. */
async function make(operation: DeclaredOperation, tenant: Tenant): Promise<string> {
  if (operation.path.endsWith('{id}') && !isAboutRecord(operation)) {
    await app.call('PUT', '/api/v1/appconfig/theme', { key: tenant.developer, body: { colour: '#2a6' } })
    return 'theme'
  }
  if (operation.path === '/api/v1/outbox/{id}') return mailOf(tenant)
  const base = homeOf(operation)
  const creator = operations.find(({ method, path }) => method === 'POST' && path === base)
  if (!creator || !operation.path.includes('{id}')) return ''
  if (base === '/api/v1/applications') {
    const { id } = await app.tenant('made')
    return operation.method === 'DELETE' && operation.path.endsWith('{id}') ? id : tenantRecord(tenant)
  }
  const shown = shownRecords.get(operation.path.replace(/\/\{.*/, ''))
  if (shown) return shown(tenant)
  const particular = particularRecords.find(([ids]) => ids.test(operation.id))?.[1]
  if (particular) return particular(tenant)
  if (base === '/api/v1/uploads') return uploadRecord(app.db, tenant.id, 'a', { colour: { hex: '#2a6' } })
  const { status, body, text } = await send(creator, base, tenant.developer)
  assert.ok(status < 300, `${creator.id} makes a record for ${operation.id} after its example, time and again: ${text}`)
  const id = body.id ?? body.applicationId
  if (operation.path.includes('{key}')) {
    await app.call('PUT', `${base}/${id}/metadata/colour`, { key: tenant.developer, body: { hex: '#2a6' } })
  }
  if (/invoke|stream|cancel/.test(operation.id)) await serve(id, tenant)
  return id
}

/** An agent answers when it is served, and can be cancelled when it was asked. */
async function serve(agentId: string, { developer: key }: Tenant): Promise<void> {
  workers.push(await connectWorker({ url: app.http.listeningOrigin, key, agentId }))
  const reply = await app.call('POST', `/api/v1/agents/${agentId}/invoke`, { key, body: { input: 'x' } })
  assert.equal(reply.status, 200, reply.text)
  invocations.set(agentId, reply.body.invocationId)
}

/** For operations that the example of their resource does not suit. */
const particularRecords: readonly [ids: RegExp, make: (tenant: Tenant) => Promise<string>][] = [
  [/^databases\.(tables|publish|query)$/, internalDatabase],
  [/^datasets\.(.*([rR]ows?|Column)|columnConversion)$/, tableDataset],
]

let tables = 0

/** The example of a dataset is a query, whose rows cannot be written. */
async function tableDataset({ id, developer: key }: Tenant): Promise<string> {
  const schema = `app_${id.replaceAll('-', '')}`
  const source = `places_${tables++}`
  await app.db.script(`
    CREATE TABLE ${schema}.${source} (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text);
    INSERT INTO ${schema}.${source} (name) VALUES ('a')`)
  const body = { type: 'table', name: 'a', source }
  return (await app.call('POST', '/api/v1/datasets', { key, body })).body.id
}

/** The example is a server that is not there. */
async function internalDatabase({ developer: key }: Tenant): Promise<string> {
  const body = { type: 'internal', name: 'Own' }
  return (await app.call('POST', '/api/v1/databases', { key, body })).body.id
}

/** Mail is made by the service only. */
async function mailOf({ id: applicationId }: Tenant): Promise<string> {
  const id = randomUUID()
  await app.db.query(sql`
    INSERT INTO svc.outbox (id, application_id, template, recipients, status)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'confirm', ARRAY['a@example.org'], 'kept')`)
  return id
}

/** An application is its own record. */
async function tenantRecord({ id }: Tenant): Promise<string> {
  await app.call('PUT', `/api/v1/applications/${id}/metadata/colour`, { body: { hex: '#2a6' } })
  return id
}

/** What is drawn needs a place; keys are the paths before the id. */
const shownRecords = new Map([
  ['/tiles', tileRecord],
  ['/ogc/collections', collectionRecord],
])

/** A map with something on it. */
async function tileRecord({ developer: key }: Tenant): Promise<string> {
  const dataset = { type: 'sql', name: 'place', source: 'SELECT 1 AS id, ST_Point(6, 50, 4326) AS geom' }
  const { body } = await app.call('POST', '/api/v1/datasets', { key, body: dataset })
  const tileSource = { type: 'dataset', source: body.id }
  return (await app.call('POST', '/api/v1/tilesources', { key, body: tileSource })).body.id
}

/** A table with a place, by its key. */
async function collectionRecord({ id, developer: key }: Tenant): Promise<string> {
  const schema = `app_${id.replaceAll('-', '')}`
  await app.db.script(`CREATE TABLE IF NOT EXISTS ${schema}.spots (
      id int GENERATED BY DEFAULT AS IDENTITY (START WITH 100) PRIMARY KEY, geom geometry(Point, 4326), name text);
    INSERT INTO ${schema}.spots VALUES (1, ST_Point(6, 50, 4326)) ON CONFLICT DO NOTHING;
    GRANT SELECT ON ${schema}.spots TO ${schema}`)
  const body = { type: 'table', name: 'spots', source: 'spots' }
  return (await app.call('POST', '/api/v1/datasets', { key, body })).body.id
}

/** The record as the master key sees it. */
async function look(operation: DeclaredOperation, id: string): Promise<string> {
  return id && id !== 'theme' ? (await app.call('GET', `${homeOf(operation)}/${id}`)).text : ''
}

/** An id of the same form that nothing has. */
const absentLike = (id: string): string =>
  /^\d+$/.test(id) ? '9'.repeat(id.length - 1).padStart(id.length, '8') : randomUUID()

const comparable = ({ status, headers, text, body }: Reply, id: string) => ({
  status,
  text: text
    .replaceAll(id, 'ID')
    .replace(/invocations\/[\w-]+/, 'invocations/ID')
    .replaceAll(body?.requestId ?? '-', 'REQUEST'),
  headers: Object.entries(headers).filter(([name]) => !['date', 'x-request-id'].includes(name)),
})
