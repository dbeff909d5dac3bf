import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

let world: OgcWorld
before(async () => {
  world = await ogcWorld()
})
after(() => world.close())

const seed = Number(process.env.TEST_SEED ?? 1)
const runs = process.env.TEST_RANDOM ? 2_000 : 300

/** Texts that are nearly right, or right for another parameter, or an attack on whatever reads them. */
const oddTexts = [
  ...['', ' ', '0', '-1', '1e309', 'NaN', 'null', '..', '../..', '%', '\0', '\ud800', "'", '"', '$1', '{}', '[]', '✓'],
  ...['1,2,3', '1,2,3,4', '1,2,3,4,5,6', '180,-90,-180,90', '9e99,9e99,9e99,9e99', '1,2,3,4,5,6,7', 'Infinity,0,1,1'],
  ...[
    '2026-01-01',
    '2026-01-01/..',
    '../..',
    '2026-13-45',
    '9999999-01-01',
    '2026-01-01T00:00:00Z/2025-01-01T00:00:00Z',
  ],
  ...['EPSG:4326', 'http://www.opengis.net/def/crs/EPSG/0/999999', 'urn:ogc:def:crs:EPSG::0', '[EPSG:4326]'],
  ...['name', '-name', '+name', 'name,name', 'geom', 'nothing', 'constructor', '__proto__', 'tags', 'extra'],
  ...[
    "name = 'x'",
    'pop >',
    'S_INTERSECTS(geom, POINT(0 0))',
    'pop / 0 > 1',
    "name LIKE '%'",
    '{"op":"="}',
    'cql2-text',
  ],
  '('.repeat(5_000),
  `${'NOT '.repeat(1_000)}TRUE`,
  'x'.repeat(7_000),
]
const parameters = [
  ...['limit', 'offset', 'cursor', 'bbox', 'bbox-crs', 'crs', 'datetime', 'properties', 'sortby', 'skipGeometry'],
  ...[
    'filter',
    'filter-lang',
    'filter-crs',
    'resultType',
    'f',
    'name',
    'pop',
    'seen',
    'tags',
    'extra',
    'geom',
    'api-key',
  ],
]
const collections = ['cities', 'grid', 'plain', 'zones', 'view']

const text = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'binary', maxLength: 40 }))
const query = fc.dictionary(fc.constantFrom(...parameters), text, { maxKeys: 4 })
const path = fc.oneof(
  fc.constantFrom('', '/collections', '/api', '/conformance', '/tileMatrixSets', '/tileMatrixSets/WebMercatorQuad'),
  fc
    .tuple(
      fc.constantFrom(...collections),
      fc.constantFrom('', '/items', '/items', '/items', '/queryables', '/schema', '/sortables', '/tiles'),
    )
    .map(([name, rest]) => `/collections/${name}${rest}`),
  fc.tuple(fc.constantFrom(...collections), text).map(([name, id]) => `/collections/${name}/items/${encoded(id)}`),
  text.map((id) => `/collections/${encoded(id)}/items`),
  fc
    .tuple(fc.constantFrom(...collections), text, text, text)
    .map(([name, ...place]) => `/collections/${name}/tiles/WebMercatorQuad/${place.map(encoded).join('/')}`),
)

const encoded = (value: string): string => encodeURIComponent(value.toWellFormed())

/** The names of collections in this test are those of their tables; the server knows some by their id only. */
const addressed = (address: string): string =>
  address.replace(/^\/collections\/(\w+)/, (whole, name) => {
    const id = world.ids[name as keyof typeof world.ids]
    return id ? `/collections/${id}` : whole
  })

describe('a hostile request', () => {
  test('is answered, or refused with a problem document, and never breaks the server', async () => {
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(path, query, async (address, given) => {
      const pairs = Object.entries(given).map(([name, value]) => `${name}=${encoded(value)}`)
      const url = `${addressed(address)}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`
      const { status, type, text: body } = await world.get(url)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      assert.ok(status < 500, `${status} ${body} for ${url.slice(0, 500)}`)
      if (status >= 400) assert.match(type, /^application\/problem\+json/, url.slice(0, 500))
    })
    await fc.assert(property, { seed, numRuns: runs, includeErrorInReport: true })
    assert.equal((await world.get('/collections/cities/items')).status, 200)
    for (const status of [200, 400, 404]) assert.ok(statuses.get(status), `no answer was ${status}`)
  })
})

describe('another tenant’s key', () => {
  const absent = 'There is no collection with this id.'

  test('finds no collection by id or slug, nor its features, schemas and tiles', async () => {
    const other = await world.app.tenant('other')
    const headers = { 'x-api-key': other.developer }
    const { body } = await world.get('/collections', headers)
    assert.deepEqual(body.collections, [])
    for (const id of ['cities', world.ids.cities, world.ids.view]) {
      for (const rest of [
        '',
        '/items',
        '/items/1',
        '/queryables',
        '/schema',
        '/sortables',
        '/tiles',
        '/tiles/WebMercatorQuad',
      ]) {
        const reply = await world.get(`/collections/${id}${rest}`, headers)
        assert.equal(reply.status, 404, `${id}${rest}`)
        assert.equal(reply.body.detail, absent, `${id}${rest}`)
      }
    }
    const tile = await world.get(`/collections/cities/tiles/WebMercatorQuad/0/0/0`, headers)
    assert.equal(tile.status, 404)
  })
})
