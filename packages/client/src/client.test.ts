import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { ApiError, createClient } from './client.ts'

let server: ClientServer
before(async () => {
  server = await clientServer()
})
after(() => server.close())

const absent = '00000000-0000-4000-8000-000000000000'
const numbers = 'SELECT n, n % 3 AS rest, ST_Point(n, 2) AS geom FROM generate_series(1, 30) AS t(n)'

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => assert.fail('It was not refused'),
    (reason) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  return error
}

describe('records', () => {
  test('are created, read, listed, changed, replaced and deleted', async () => {
    const { styles } = server.client()
    const style = { version: 8, sources: {}, layers: [] }
    const made = await styles.create({ name: 'One', style, metadata: { a: 1 } })
    assert.equal((await styles.get(made.id)).name, 'One')
    assert.deepEqual(await styles.list({ fields: ['name'], filter: { id: made.id } }), [{ name: 'One' }])
    assert.equal((await styles.patch(made.id, { name: 'Two' })).name, 'Two')
    assert.equal((await styles.update(made.id, { name: 'Three', style })).name, 'Three')
    assert.equal(await styles.delete(made.id), undefined)
    assert.equal((await refusal(styles.get(made.id))).status, 404)
  })

  test('metadata is read and written whole and by key', async () => {
    const { datasets } = server.client()
    const { id } = await datasets.create({ type: 'sql', name: 'Numbers', source: numbers })
    const { metadata } = datasets
    assert.deepEqual(await metadata.set(id, { colour: { hex: '#2a6' }, n: 1 }), { colour: { hex: '#2a6' }, n: 1 })
    assert.equal(await metadata.getKey(id, 'colour.hex'), '#2a6')
    await metadata.setKey(id, 'odd/key?', [1, 'ä'])
    assert.deepEqual(await metadata.getKey(id, 'odd/key?'), [1, 'ä'])
    assert.deepEqual(Object.keys(await metadata.deleteKey(id, 'n')).sort(), ['colour', 'odd/key?'])
    assert.deepEqual(await metadata.get(id), { colour: { hex: '#2a6' }, 'odd/key?': [1, 'ä'] })
  })

  test('a record that has changed meanwhile is not overwritten when its tag is given', async () => {
    const { styles } = server.client()
    const { id } = await styles.create({ name: 'One', style: { version: 8, sources: {}, layers: [] } })
    let ifMatch = ''
    await styles.get(id, {
      onResponse: ({ headers }) => {
        ifMatch = headers.get('etag') ?? ''
      },
    })
    await styles.patch(id, { name: 'Two' }, { ifMatch })
    const error = await refusal(styles.patch(id, { name: 'Three' }, { ifMatch }))
    assert.deepEqual([error.status, error.code], [412, 'precondition_failed'])
  })

  test('with an id that would lead to another path are refused without a request', async () => {
    const { datasets, styles } = server.client({ fetch: () => assert.fail('It was sent') })
    for (const id of ['', '.', '..']) {
      await assert.rejects(async () => datasets.delete(id), TypeError)
      await assert.rejects(async () => styles.metadata.deleteKey(absent, id), TypeError)
    }
  })
})

describe('queries', () => {
  test('return rows, features or text, as their format says', async () => {
    const { datasets } = server.client()
    const { id } = await datasets.create({ type: 'sql', name: 'Numbers', source: numbers })
    const query = { attributes: ['n', 'rest', 'geom'], where: { n: { $lte: 2 } }, order: ['-n'] }
    assert.deepEqual(
      (await datasets.query<{ n: number; rest: number }>(id, query)).map(({ n, rest }) => [n, rest]),
      [
        [2, 2],
        [1, 1],
      ],
    )
    const { type, features } = await datasets.query(id, query, { format: 'geojson' })
    assert.equal(type, 'FeatureCollection')
    assert.deepEqual(features[0]?.geometry, { type: 'Point', coordinates: [2, 2] })
    const csv = await datasets.query(id, { ...query, attributes: ['n', 'rest'] }, { format: 'csv' })
    assert.deepEqual(csv.trim().split(/\r?\n/), ['n,rest', '2,2', '1,1'])
    const file = await datasets.export(id, query, { format: 'gpkg' })
    assert.deepEqual([file.type, await file.slice(0, 13).text()], ['application/geopackage+sqlite3', 'SQLite format'])
    const { plan } = await datasets.query(id, query, { explain: true })
    assert.ok(plan)
  })
})

describe('errors', () => {
  test('a refusal says status, code, message, faults and the id of the request', async () => {
    const { datasets } = server.client()
    const error = await refusal(datasets.create({ type: 'sql', name: '', source: 'SELECT 1' }))
    assert.equal(error.name, 'ApiError')
    assert.deepEqual([error.status, error.code], [400, 'invalid_request'])
    assert.match(error.message, /name/)
    assert.equal(error.errors[0]?.path, 'body/name')
    assert.match(error.requestId ?? '', /^[\w-]{8,}$/)
  })

  test('a server that cannot be reached is a network error', async () => {
    const error = await refusal(createClient('http://127.0.0.1:9', 'key', { retries: 0 }).server.health())
    assert.deepEqual([error.status, error.code], [0, 'network_error'])
    assert.ok(error.cause)
  })

  test('an address that is none is refused by name', () => {
    for (const url of ['', 'ftp://host', 'maps.example.org'])
      assert.throws(() => createClient(url), /^TypeError: url: /)
    assert.equal(createClient('https://host/prefix//').url, 'https://host/prefix')
    assert.equal(createClient('https://HOST:443').url, 'https://host')
  })
})
