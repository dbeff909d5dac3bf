import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import type { BearerCache } from '../../api/access/bearer-cache.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { createKeyCache } from '../../api/access/key-cache.ts'
import { createRevocation } from '../../api/access/revocation.ts'
import { createServer } from '../../api/http/server.ts'
import { mcpOperations } from './mcp-operations.ts'
import { createToolTokens, type ToolTokens } from './tool-token.ts'

let app: TestApp
let toolTokens: ToolTokens
let http: FastifyInstance
let url: string
let own: Tenant
let foreign: Tenant
const ids: Record<string, string> = {}
const running = new Set<string>()
const clients: Client[] = []

const cities = `SELECT i AS id, 'city ' || i AS name, i % 3 AS class, i * 10 AS population,
  ST_SetSRID(ST_MakePoint(i / 100.0, 50 + 0.0000001234), 4326) AS geom FROM generate_series(1, 500) i`
const lakes = `SELECT i AS id, 'lake ' || i AS name, CASE WHEN i > 1 THEN i END AS depth,
  ST_Buffer(ST_SetSRID(ST_MakePoint(i, 50), 4326), 0.05, 200) AS geom FROM generate_series(1, 3) i`
const wide = `SELECT i AS id, repeat('x', 5000) AS text, 9007199254740993 AS big FROM generate_series(1, 100) i`

before(async () => {
  app = await testApp()
  toolTokens = createToolTokens(app.secrets)
  own = await app.tenant('own')
  foreign = await app.tenant('foreign')
  for (const [name, tenant, source] of [
    ['cities', own, cities],
    ['lakes', own, lakes],
    ['wide', own, wide],
    ['secret', foreign, cities],
  ] as const) {
    const metadata = name === 'lakes' ? { tags: ['gazetteer'] } : {}
    const body = { type: 'sql', name, description: `The ${name}`, source, metadata }
    const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
    assert.equal(reply.status, 201, reply.text)
    ids[name] = reply.body.id
  }
  const readToken = async (token: string) => {
    const grant = toolTokens.read(token)
    return grant && running.has(grant.invocationId) ? grant : undefined
  }
  const services = { ...app.services, readToolGrant: readToken, estimates: async () => new Map() }
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' })
  const options = { logger, trustProxy: false, bodyLimit: 1_048_576, isStopping: () => false }
  const revocation = createRevocation({ db: app.db, onError: () => {} })
  const keys = createKeyCache(app.db, revocation.recheck)
  http = await createServer(mcpOperations, { keys, bearers: noBearers, revocation }, services, options)
  await http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}/api/v1/mcp`
})
after(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await http.close()
  await app.close()
})

const noBearers = { find: async () => undefined, forget: () => {} } as unknown as BearerCache

async function connect(key: string, token?: string): Promise<Client> {
  const headers = { 'x-api-key': key, ...(token && { authorization: `Bearer ${token}` }) }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  clients.push(client)
  return client
}

async function use(client: Client, name: string, input: object) {
  const { isError, content } = await client.callTool({ name, arguments: { ...input } })
  const [{ text }] = content as [{ text: string }]
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  return { isError: isError === true, text, value: (isError ? undefined : JSON.parse(text)) as any }
}

test('a client of the SDK lists the tools, which all only read', async () => {
  const { tools } = await (await connect(own.public)).listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      ...['list_datasets', 'describe_dataset', 'query_dataset', 'summarize_dataset'],
      ...['find_nearby', 'spatial_join', 'geocode', 'show_on_map'],
    ],
  )
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint))
  assert.ok(!JSON.stringify(tools).includes('cities'))
})

test('datasets are found by a part of their name, and only those of the caller', async () => {
  const client = await connect(own.public)
  const all = await use(client, 'list_datasets', {})
  assert.deepEqual(
    all.value.datasets.map(({ name }: { name: string }) => name),
    ['cities', 'lakes', 'wide'],
  )
  assert.equal(all.value.datasets[0].geometry.attribute, 'geom')
  assert.equal((await use(client, 'list_datasets', { search: 'CIT' })).value.datasets.length, 1)
  assert.equal((await use(client, 'list_datasets', { search: '%' })).value.datasets.length, 0)
  const { value } = await use(client, 'list_datasets', { limit: 1 })
  assert.deepEqual([value.datasets.length, value.truncated, value.nextOffset], [1, true, 1])
})

test('a description tells attributes, count, extent, ranges and common values', async () => {
  const { value } = await use(await connect(own.public), 'describe_dataset', {
    datasetId: ids.cities,
    valuesOf: ['class'],
  })
  assert.equal(value.rows, 500)
  assert.deepEqual(value.ranges.population, { min: 10, max: 5_000 })
  assert.equal(value.values.class.length, 3)
  assert.ok(value.extent)
  assert.ok(
    value.attributes.some(({ name, type }: { name: string; type: string }) => name === 'geom' && type === 'geometry'),
  )
})

test('rows come without geometry unless asked for, and then with six decimals', async () => {
  const client = await connect(own.public)
  const query = { datasetId: ids.cities, where: { id: { $lte: 2 } }, order: ['-id'] }
  assert.deepEqual((await use(client, 'query_dataset', query)).value, {
    rows: [
      { id: 2, name: 'city 2', class: 2, population: 20 },
      { id: 1, name: 'city 1', class: 1, population: 10 },
    ],
    truncated: false,
  })
  const shown = async (geometry: string) =>
    (await use(client, 'query_dataset', { ...query, attributes: ['id', 'geom'], geometry })).value.rows[0]
  assert.deepEqual(await shown('none'), { id: 2 })
  assert.deepEqual(await shown('centroid'), { id: 2, geom: [0.02, 50] })
  assert.deepEqual(await shown('bbox'), { id: 2, geom: [0.02, 50, 0.02, 50] })
  assert.deepEqual(await shown('full'), { id: 2, geom: { type: 'Point', coordinates: [0.02, 50] } })
})

test('places are found in a box and within metres', async () => {
  const client = await connect(own.public)
  const boxed = await use(client, 'query_dataset', { datasetId: ids.cities, bbox: [0, 49, 0.035, 51] })
  assert.equal(boxed.value.rows.length, 3)
  const near = { point: [0.02, 50], distanceMeters: 1_000 }
  assert.equal((await use(client, 'query_dataset', { datasetId: ids.cities, near })).value.rows.length, 3)
})

test('results are bounded in rows and in length, and say where the next begin', async () => {
  const client = await connect(own.public)
  const page = (await use(client, 'query_dataset', { datasetId: ids.cities })).value
  assert.deepEqual([page.rows.length, page.truncated, page.nextOffset], [50, true, 50])
  const { text, value } = await use(client, 'query_dataset', { datasetId: ids.wide, order: ['id'] })
  assert.ok(text.length < 40_000 && value.truncated)
  assert.equal(value.nextOffset, value.rows.length)
  assert.equal(value.rows[0].big, '9007199254740993', 'no digit is lost')
  assert.ok((await use(client, 'query_dataset', { datasetId: ids.cities, limit: 100_000 })).isError)
})

test('summaries count and add up by group', async () => {
  const { value } = await use(await connect(own.public), 'summarize_dataset', {
    datasetId: ids.cities,
    groupBy: ['class'],
    measures: [{ function: 'count' }, { function: 'sum', attribute: 'population' }],
    order: ['class'],
    where: { id: { $lte: 6 } },
  })
  assert.deepEqual(value.rows, [
    { class: 0, count: 2, sum_population: 90 },
    { class: 1, count: 2, sum_population: 50 },
    { class: 2, count: 2, sum_population: 70 },
  ])
})

test('a view for the map is made only of datasets within reach', async () => {
  const client = await connect(own.public)
  const view = { bbox: [0, 0, 1, 1], datasetId: ids.cities, featureIds: ['7'] }
  assert.deepEqual((await use(client, 'show_on_map', view)).value, { type: 'mapView', ...view })
  assert.ok((await use(client, 'show_on_map', { datasetId: ids.secret })).isError)
})

test('the caller’s ACL decides: another tenant’s, an unlisted and a merely readable dataset stay closed', async () => {
  const client = await connect(own.public)
  const absent = await use(client, 'query_dataset', { datasetId: randomUUID() })
  for (const name of ['describe_dataset', 'query_dataset']) {
    const refused = await use(client, name, { datasetId: ids.secret })
    assert.ok(refused.isError)
    assert.equal(refused.text, absent.text)
  }
  const measures = [{ function: 'count' }]
  assert.ok((await use(client, 'summarize_dataset', { datasetId: ids.secret, measures })).isError)
  const limited: Permissions = { datasets: { read: '*', execute: [String(ids.wide)] } }
  const narrow = await connect(await app.key(own.id, limited))
  assert.ok(!(await use(narrow, 'query_dataset', { datasetId: ids.wide })).isError)
  assert.match((await use(narrow, 'query_dataset', { datasetId: ids.cities })).text, /does not grant execute/)
  assert.match((await use(narrow, 'describe_dataset', { datasetId: ids.cities })).value.note, /does not grant execute/)
})

test('wrong arguments and unknown tools are told in words, not as a broken connection', async () => {
  const client = await connect(own.public)
  assert.match((await use(client, 'query_dataset', {})).text, /datasetId/)
  assert.match((await use(client, 'query_dataset', { datasetId: ids.cities, sql: 'DROP' })).text, /sql/)
  assert.match((await use(client, 'query_dataset', { datasetId: ids.cities, where: { nope: 1 } })).text, /nope/)
  const unknown = await use(client, 'list_dataset', {})
  assert.match(unknown.text, /^"list_dataset" is not a tool\. Did you mean "list_datasets"\? Allowed: /)
})

test('without a key, and with another method, the address answers as all do', async () => {
  const post = (headers: Record<string, string>, body: string) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  assert.equal((await post({}, '{}')).status, 401)
  assert.equal((await fetch(url, { headers: { 'x-api-key': own.public } })).status, 405)
  assert.equal((await post({ 'x-api-key': own.public }, '{"not":"rpc"}')).status, 400)
  assert.equal(
    (await post({ 'x-api-key': own.public }, '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]')).status,
    400,
  )
  const old = { 'x-api-key': own.public, 'mcp-protocol-version': '1999-01-01' }
  assert.equal((await post(old, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status, 400)
  const listed = await post({ 'x-api-key': own.public }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
  assert.equal(listed.status, 200)
})

test('a token of an invocation grants the caller’s ACL within the agent’s datasets, until the invocation is over', async () => {
  const found = await createKeyCache(app.db, () => {}).find(own.public)
  assert.ok(found)
  const caller = { ...found, keyExpiresAt: found.expiresAt, everyApplication: false, bearer: null }
  const issue = (datasetIds: string[] | null, ms = 60_000) =>
    toolTokens.issue({
      invocationId: 'i',
      agentId: 'a',
      caller,
      applicationId: own.id,
      datasetIds,
      expiresAt: new Date(Date.now() + ms),
    })
  running.add('i')
  const client = await connect(own.developer, issue([String(ids.wide), String(ids.secret)]))
  const { value } = await use(client, 'list_datasets', {})
  assert.deepEqual(
    value.datasets.map(({ name }: { name: string }) => name),
    ['wide'],
  )
  assert.ok((await use(client, 'query_dataset', { datasetId: ids.cities })).isError)
  assert.ok((await use(client, 'query_dataset', { datasetId: ids.secret })).isError)
  assert.ok(!(await use(client, 'query_dataset', { datasetId: ids.wide, limit: 1 })).isError)
  running.delete('i')
  await assert.rejects(use(client, 'list_datasets', {}), /401|not valid/)
  running.add('i')
  await assert.rejects(connect(own.developer, issue(null, -1)), /401|not valid/)
  await assert.rejects(connect(own.developer, 'nonsense'), /401|not valid/)
  running.add('j')
  const otherwise = [issue(null).replace('tools.i.', 'tools.j.'), issue(null).replace(/\.1(\d{12})\./, '.2$1.')]
  for (const changed of otherwise) await assert.rejects(connect(own.developer, changed), /401|not valid/)
  await assert.rejects(connect(foreign.developer, issue(null)), /401|not valid/)
})

test('a description tells how often an attribute is null', async () => {
  const { value } = await use(await connect(own.public), 'describe_dataset', { datasetId: ids.lakes })
  assert.equal(value.nulls.depth, 1)
  assert.equal(value.nulls.name, 0)
})

test('the query tool of MCP groups and aggregates rows', async () => {
  const query = { datasetId: ids.cities, attributes: ['class', 'count(*) as many'], group: ['class'], order: ['class'] }
  const { value } = await use(await connect(own.public), 'query_dataset', query)
  assert.deepEqual(value.rows[0], { class: 0, many: 166 })
  const bare = await use(await connect(own.public), 'query_dataset', { datasetId: ids.cities, group: ['class'] })
  assert.equal(bare.value.rows.length, 3)
})

test('a simplified geometry has the form of the whole and few of its positions', async () => {
  const client = await connect(own.public)
  const shown = async (geometry: string) =>
    (await use(client, 'query_dataset', { datasetId: ids.lakes, limit: 1, geometry })).value.rows[0]
  assert.ok((await shown('simplified')).geom.coordinates[0].length <= 100)
  assert.match((await shown('simplified')).geom.type, /Polygon/)
  assert.ok((await shown('full')).geom.coordinates[0].length > 500)
})

test('a spatial join tells what is near, touches or lies within, of two datasets that may both be queried', async () => {
  const client = await connect(own.public)
  const join = { datasetId: ids.lakes, where: { id: { $lte: 2 } }, toDatasetId: ids.cities, toAttributes: ['id'] }
  const near = await use(client, 'spatial_join', { ...join, attributes: ['name'], distanceMeters: 4_000, limit: 1 })
  const [first] = near.value.rows
  assert.deepEqual(first.row, { name: 'lake 1' })
  assert.equal(first.matches.length, 10)
  assert.equal(first.moreMatches, true)
  assert.deepEqual([near.value.truncated, near.value.nextOffset], [true, 1])
  for (const predicate of ['intersects', 'within']) {
    const { value } = await use(client, 'spatial_join', { ...join, predicate, attributes: ['id'] })
    assert.deepEqual(
      value.rows.map(({ row }: { row: object }) => row),
      [{ id: 1 }, { id: 2 }],
    )
    assert.ok(value.rows[0].matches.every(({ id }: { id: number }) => id >= 95 && id <= 105))
  }
  assert.ok(!near.text.includes('coordinates'))
  assert.match((await use(client, 'spatial_join', join)).text, /distanceMeters/)
  assert.match(
    (await use(client, 'spatial_join', { ...join, toDatasetId: ids.wide, distanceMeters: 1 })).text,
    /geometry/,
  )
  const absent = await use(client, 'spatial_join', { ...join, toDatasetId: randomUUID(), distanceMeters: 1 })
  const secret = await use(client, 'spatial_join', { ...join, toDatasetId: ids.secret, distanceMeters: 1 })
  assert.deepEqual([secret.isError, secret.text], [true, absent.text])
  const half = await connect(await app.key(own.id, { datasets: { read: '*', execute: [String(ids.lakes)] } }))
  assert.match((await use(half, 'spatial_join', { ...join, distanceMeters: 1 })).text, /does not grant execute/)
})

test('a place is found by its name in the datasets that are gazetteers', async () => {
  const client = await connect(own.public)
  const { value } = await use(client, 'geocode', { text: 'LAKE', limit: 2 })
  assert.deepEqual(
    value.places.map(({ name, center }: { name: string; center: number[] }) => [name, center]),
    [
      ['lake 1', [1, 50]],
      ['lake 2', [2, 50]],
    ],
  )
  assert.equal(value.truncated, true)
  assert.equal((await use(client, 'geocode', { text: 'ke 3' })).value.places[0].name, 'lake 3')
  assert.deepEqual((await use(client, 'geocode', { text: '%' })).value.places, [])
  assert.deepEqual((await use(client, 'geocode', { text: 'city' })).value.places, [], 'no gazetteer')
  assert.match(
    (await use(await connect(foreign.public), 'geocode', { text: 'lake' })).value.note,
    /No dataset is a gazetteer/,
  )
})

test('datasets are found by the box that they have something in', async () => {
  const client = await connect(own.public)
  const inBox = async (bbox: number[]) =>
    (await use(client, 'list_datasets', { bbox })).value.datasets.map(({ name }: { name: string }) => name)
  assert.deepEqual(await inBox([2.9, 49, 3.1, 51]), ['cities', 'lakes'])
  assert.deepEqual(await inBox([0, 49, 0.5, 51]), ['cities'])
  assert.deepEqual(await inBox([100, -10, 101, -9]), [])
  const narrow = await connect(await app.key(own.id, { datasets: { read: '*', execute: [String(ids.wide)] } }))
  assert.deepEqual((await use(narrow, 'geocode', { text: 'lake' })).value.places, [], 'seen, but not to be queried')
})
