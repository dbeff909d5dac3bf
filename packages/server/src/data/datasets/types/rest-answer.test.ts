import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { fetchRest, type RestSource, restRows } from './rest-answer.ts'
import { createRestCache } from './rest-cache.ts'
import { restMarkers } from './rest-template.ts'

let answer: { status?: number; headers?: Record<string, string>; body: string } = { body: '[]' }
const seen: { url: string | undefined; key: string | string[] | undefined }[] = []
const server = createServer((request, response) => {
  seen.push({ url: request.url, key: request.headers['x-api-key'] })
  response.writeHead(answer.status ?? 200, answer.headers ?? {}).end(answer.body)
})
const egress = createEgress({ allow: '', mayReachLoopback: true })
let base = ''

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server.close()
  server.closeAllConnections()
  await egress.close()
})

const source = (more: Partial<RestSource> = {}): RestSource => ({
  applicationId: 'app',
  url: `${base}/`,
  parameters: {},
  ...more,
})
const json = { 'content-type': 'application/json; charset=utf-8' }
const csv = { 'content-type': 'text/csv' }
const isFailed = (error: unknown) => error instanceof ApiError && error.code === 'upstream_failed'
const isInvalid = (error: unknown) => error instanceof ApiError && error.status === 400

async function rowsOf(given: typeof answer, { path, ...more }: Partial<RestSource> & { path?: string } = {}) {
  answer = given
  return restRows({ ...(await fetchRest(source(more), { egress })), ...(path !== undefined && { path }) })
}

test('a list, a list at a path, an object and values are rows', async () => {
  assert.deepEqual(await rowsOf({ headers: json, body: '[{"a":1},{"a":null}]' }), [{ a: 1 }, { a: null }])
  const nested = { headers: json, body: '{"data":{"items":[{"a":1}]},"list":[0,[{"a":2}]]}' }
  assert.deepEqual(await rowsOf(nested, { path: 'data.items' }), [{ a: 1 }])
  assert.deepEqual(await rowsOf(nested, { path: 'list.1' }), [{ a: 2 }])
  assert.deepEqual(await rowsOf(nested, { path: 'data' }), [{ items: [{ a: 1 }] }])
  assert.deepEqual(await rowsOf({ headers: json, body: '[1,"b"]' }), [{ value: 1 }, { value: 'b' }])
  await assert.rejects(rowsOf(nested, { path: 'data.toString' }), /no "toString"/)
  await assert.rejects(rowsOf({ headers: json, body: '5' }), isFailed)
})

test('features are their properties, their geometry and their id', async () => {
  const geometry = { type: 'Point', coordinates: [1, 2] }
  const features = [
    { type: 'Feature', id: 7, geometry, properties: { a: 1 } },
    { type: 'Feature', geometry: null, properties: null },
    { type: 'Feature', id: 7, geometry, properties: { id: 'own' } },
  ]
  const body = JSON.stringify({ type: 'FeatureCollection', features })
  const expected = [{ id: 7, a: 1, geometry }, { geometry: null }, { id: 'own', geometry }]
  assert.deepEqual(await rowsOf({ headers: { 'content-type': 'application/geo+json' }, body }), expected)
  assert.deepEqual(await rowsOf({ headers: json, body }, { path: 'features' }), expected)
})

test('integers beyond 2^53 keep their digits', async () => {
  const body = '[{"a":9007199254740993,"b":1.12345678901234567,"c":12}]'
  assert.deepEqual(await rowsOf({ headers: json, body }), [{ a: '9007199254740993', b: 1.1234567890123457, c: 12 }])
})

test('CSV columns of numbers and booleans are read as such, everything else as text, nothing as null', async () => {
  const body = '\uFEFFid,code,ok,big,text,__proto__\r\n1,007,true,9007199254740993,"a,""b",x\r\n2.5,12,,1,"",y\r\n'
  const rows = await rowsOf({ headers: csv, body })
  assert.deepEqual(
    rows.map((row) => Object.entries(row)),
    [
      [
        ['id', 1],
        ['code', '007'],
        ['ok', true],
        ['big', '9007199254740993'],
        ['text', 'a,"b'],
        ['__proto__', 'x'],
      ],
      [
        ['id', 2.5],
        ['code', '12'],
        ['ok', null],
        ['big', '1'],
        ['text', ''],
        ['__proto__', 'y'],
      ],
    ],
  )
  await assert.rejects(rowsOf({ headers: csv, body: 'a,b\n1,2,3\n' }), isFailed)
})

test('where the content type says nothing the beginning of the answer does', async () => {
  assert.deepEqual(await rowsOf({ body: '\n [{"a":1}]' }), [{ a: 1 }])
  assert.deepEqual(await rowsOf({ headers: { 'content-type': 'text/plain' }, body: 'a\n1\n' }), [{ a: 1 }])
  await assert.rejects(rowsOf({ headers: { 'content-type': 'text/html' }, body: '<p>' }), isFailed)
  await assert.rejects(rowsOf({ headers: json, body: '<p>' }), isFailed)
  await assert.rejects(rowsOf({ status: 404, headers: json, body: '[]' }), /status 404/)
})

test('parameters are encoded into path and query and change nothing else of the address', async () => {
  const parameters = { id: 'a/b?c#d&e=ü ', empty: null }
  await rowsOf({ headers: json, body: '[]' }, { url: `${base}/x/{id}/y?q={id}&e={empty}#{id}`, parameters })
  const text = 'a%2Fb%3Fc%23d%26e%3D%C3%BC%20'
  assert.equal(seen.at(-1)?.url, `/x/${text}/y?q=${text}&e=`)
  const before = seen.length
  for (const id of ['..', '.', '%2e%2e', '\ud800']) {
    const refused = rowsOf({ headers: json, body: '[]' }, { url: `${base}/x/{id}/y`, parameters: { id } })
    if (id === '%2e%2e') await refused
    else await assert.rejects(refused, isInvalid)
  }
  assert.equal(seen.length, before + 1)
  await assert.rejects(rowsOf({ body: '[]' }, { url: `${base}/{toString}` }), /toString: is required/)
  assert.deepEqual(restMarkers('http://a/{b}/{c}?{b}&{"json":1}'), ['b', 'c'])
})

test('a marker in scheme, host or port is refused', async () => {
  const parameters = { x: 'evil.example' }
  const templates = [
    '{x}://a/',
    'http://{x}/',
    'http://a.{x}',
    'http://a:{x}/',
    'http://{x}@a/',
    'http:/{x}',
    'http:{x}',
  ]
  const more = [
    'http:///{x}',
    'http://a\\@{x}/',
    'http:\\\\{x}',
    ' http://{x}',
    'http://a\t{x}/',
    'ftp://a/{x}',
    '/{x}',
  ]
  for (const url of [...templates, ...more]) {
    await assert.rejects(rowsOf({ body: '[]' }, { url, parameters }), isInvalid, url)
  }
})

test('an answer is kept as long as its sender says, for its application and its headers alone', async () => {
  let now = 0
  const cache = createRestCache({ now: () => now })
  const ask = async (more: Partial<RestSource> = {}) => {
    const before = seen.length
    await fetchRest(source(more), { egress, cache })
    return seen.length > before ? 'asked' : 'kept'
  }
  answer = { headers: { ...json, 'cache-control': 'public, max-age=60' }, body: '[{"a":1}]' }
  assert.deepEqual([await ask(), await ask()], ['asked', 'kept'])
  assert.equal(await ask({ applicationId: 'other' }), 'asked')
  assert.equal(await ask({ headers: { 'x-api-key': 's' } }), 'asked')
  assert.equal(seen.at(-1)?.key, 's')
  now = 60_000
  assert.equal(await ask(), 'asked')
  for (const control of ['no-store, max-age=60', 'no-cache, max-age=60', 'private', 's-maxage=60']) {
    answer = { headers: { ...json, 'cache-control': control }, body: '[]' }
    const url = `${base}/${encodeURIComponent(control)}`
    assert.deepEqual([await ask({ url }), await ask({ url })], ['asked', 'asked'], control)
  }
  answer = { headers: { ...json, 'cache-control': 'max-age=86400' }, body: '[]' }
  const long = { url: `${base}/long` }
  assert.equal(await ask(long), 'asked')
  now += 299_000
  assert.equal(await ask(long), 'kept')
  now += 1_000
  assert.equal(await ask(long), 'asked')
})

test('the cache holds no more than its bytes: the oldest go', () => {
  const cache = createRestCache({ maxBytes: 5_000 })
  const entry = { body: Buffer.alloc(1_500), contentType: '' }
  for (const key of ['a', 'b', 'c', 'c']) cache.set(key, entry, 60)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key) !== undefined),
    [false, true, true],
  )
  cache.set('d', { body: Buffer.alloc(6_000), contentType: '' }, 60)
  assert.equal(cache.get('d'), undefined)
  assert.ok(cache.get('c'))
})
