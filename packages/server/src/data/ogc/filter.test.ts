import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

let world: OgcWorld
before(async () => {
  world = await ogcWorld()
})
after(() => world.close())

const ask = (filter: string, rest = '', collection = 'cities') =>
  world.get(`/collections/${collection}/items?limit=100&filter=${encodeURIComponent(filter)}${rest}`)

async function found(filter: string, rest = '', collection = 'cities') {
  const { status, body, text } = await ask(filter, rest, collection)
  assert.equal(status, 200, `${filter} ${text}`)
  return body.features.map(({ id }: { id: unknown }) => id)
}

const epsg = (srid: number) => encodeURIComponent(`http://www.opengis.net/def/crs/EPSG/0/${srid}`)

describe('a filter', () => {
  test('selects by text and by JSON, of every class that is declared', async () => {
    for (const [filter, ids] of [
      ["name = 'Suva' OR pop < 40000 AND capital = TRUE AND id < 6", [2, 3]],
      ["name LIKE 'B%'", [4]],
      ['pop BETWEEN 90000 AND 100000', [2]],
      ["name IN ('Suva', 'Apia')", [2, 3]],
      ["CASEI(name) = CASEI('SUVA')", [2]],
      ["ACCENTI(name) = ACCENTI('Kobenhavn')", [1]],
      ['S_INTERSECTS(geom, BBOX(170, -20, -170, -10))', [2, 3]],
      ['S_WITHIN(geom, POLYGON((7 50, 8 50, 8 51, 7 51, 7 50)))', [4]],
      ["T_DURING(INTERVAL(founded, founded), INTERVAL('1849-01-01', '1851-01-01'))", [3]],
      ["T_BEFORE(seen, TIMESTAMP('2026-01-02T00:00:00Z'))", [1]],
      ["A_CONTAINS(tags, ('port', 'old'))", [1]],
      ['pop = id * 47000', [2]],
      ['pop IS NULL', [5]],
    ] as const) {
      assert.deepEqual(await found(filter), ids, filter)
    }
    const json = { op: '=', args: [{ property: 'name' }, 'Suva'] }
    assert.deepEqual(await found(JSON.stringify(json), '&filter-lang=cql2-json'), [2])
  })

  test('combines with all other parameters, and is walked page by page', async () => {
    assert.deepEqual(await found('capital = true', '&bbox=7,50,13,56'), [1])
    assert.deepEqual(await found('capital = true', '&name=Suva&datetime=2026-01-02'), [2])
    const seen: unknown[] = []
    let next = `/collections/cities/items?limit=4&filter=${encodeURIComponent('pop > 5000 AND pop < 40000')}`
    while (next) {
      const { body } = await world.get(next)
      seen.push(...body.features.map(({ id }: { id: unknown }) => id))
      next = body.links.find(({ rel }: { rel: string }) => rel === 'next')?.href
    }
    assert.equal(seen.length, 35)
    assert.equal(new Set(seen).size, 35)
  })

  test('has its geometries in the reference system that filter-crs names, in its order of axes', async () => {
    const box = 'S_INTERSECTS(geom, POLYGON((50 7, 56 7, 56 13, 50 13, 50 7)))'
    assert.deepEqual(await found(box, `&filter-crs=${epsg(4326)}`), [1, 4])
    const grid =
      'S_INTERSECTS(geom, POLYGON((5600400 3500900, 5601100 3500900, 5601100 3502100, 5600400 3502100, 5600400 3500900)))'
    assert.deepEqual(await found(grid, `&filter-crs=${epsg(31467)}`, world.ids.grid), ['a-1', 'a-2'])
    const metres =
      'S_INTERSECTS(geom, POLYGON((780000 6446000, 1450000 6446000, 1450000 7600000, 780000 7600000, 780000 6446000)))'
    assert.deepEqual(await found(metres, `&filter-crs=${epsg(3857)}`), [1, 4])
  })

  test('is accepted as GDAL writes it', async () => {
    assert.deepEqual(await found("name ILIKE 'su%'", '&filter-lang=cql-text'), [2])
    assert.deepEqual(await found("founded = '1882-01-01T'", '&filter-lang=cql-text'), [2])
  })

  test('that is not understood is a 400 that names the place', async () => {
    for (const [filter, rest] of [
      ['nothing = 1', ''],
      ['extra = 1', ''],
      ['name = ', ''],
      ["name = 'Suva'", '&filter-lang=sql'],
      ["name = 'Suva'", '&filter-lang=cql2-json'],
      ["name = 'Suva'", '&filter-crs=nonsense'],
      ['T_DURING(seen, seen)', ''],
    ] as const) {
      const { status, body } = await ask(filter, rest)
      assert.equal(status, 400, filter)
      assert.match(body.errors[0].path, /^query\/filter/)
    }
  })
})

describe('the schemas of a collection', () => {
  test('describe all properties, those that can be compared and those that can be sorted by', async () => {
    for (const kind of ['schema', 'queryables', 'sortables']) {
      const { status, type, body } = await world.get(`/collections/cities/${kind}`, {
        accept: 'application/schema+json',
      })
      assert.equal(status, 200)
      assert.match(type, /^application\/schema\+json/)
      assert.equal(body.$schema, 'https://json-schema.org/draft/2020-12/schema')
      assert.equal(body.$id, `${world.root}/collections/cities/${kind}`)
      assert.equal(body.additionalProperties, false)
      assert.equal(body.properties.name.type, 'string')
    }
    const { properties } = (await world.get('/collections/cities/schema')).body
    assert.deepEqual(Object.keys(properties), [
      'id',
      'name',
      'pop',
      'founded',
      'seen',
      'capital',
      'tags',
      'extra',
      'geom',
    ])
    assert.deepEqual([properties.geom.type, properties.geom.format], [undefined, 'geometry-point'])
    assert.deepEqual(
      ['id', 'geom', 'seen'].map((name) => properties[name]['x-ogc-role']),
      ['id', 'primary-geometry', 'primary-instant'],
    )
    assert.deepEqual([properties.founded.format, properties.seen.format], ['date', 'date-time'])
    const queryables = (await world.get('/collections/cities/queryables')).body.properties
    assert.ok(queryables.geom && !queryables.extra)
    const sortables = (await world.get('/collections/cities/sortables')).body.properties
    assert.ok(!sortables.geom && !sortables.tags && sortables.pop)
  })

  test('say only what holds: every queryable can be filtered by, every sortable sorted by', async () => {
    const queryables = Object.entries<{ type?: string }>(
      (await world.get('/collections/cities/queryables')).body.properties,
    )
    for (const [name, { type }] of queryables) {
      assert.equal((await ask(`"${name}" IS NOT NULL`)).status, 200, name)
      if (type === 'array' || type === undefined) continue
      assert.notEqual((await world.get(`/collections/cities/items?${name}=0`)).body.errors?.[0]?.code, 'unknown', name)
    }
    for (const name of Object.keys((await world.get('/collections/cities/sortables')).body.properties)) {
      assert.equal((await world.get(`/collections/cities/items?sortby=-${name}`)).status, 200, name)
    }
  })

  test('come as plain JSON with a list of names for clients that know no schemas', async () => {
    const { type, body } = await world.get('/collections/cities/queryables', { accept: 'application/json' })
    assert.match(type, /^application\/json/)
    assert.ok(body.queryables.some(({ id, type }: { id: string; type: string }) => id === 'pop' && type === 'integer'))
  })
})
