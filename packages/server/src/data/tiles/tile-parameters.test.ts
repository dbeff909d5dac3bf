import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { featuresOf, type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'

// One database is enough: parameters become a query as those of datasets do, which keyset-page.test.ts and dataset.test.ts ask
// of both.

let maps: TileApp
let dataset: string
let id: string
before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, name text, kind text, pop int8, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'n' || g, CASE g % 2 WHEN 0 THEN 'even' ELSE 'odd' END, g * 100,
      ST_Point(g, 10, 4326) FROM generate_series(1, 20) g`)
  dataset = await maps.dataset({ source: 'places' })
  id = await maps.tileSource({ source: dataset })
})
after(() => maps.close())

const tile = (query: string, extension = 'mvt') => maps.get(`/tiles/${id}/0/0/0.${extension}${query && `?${query}`}`)

describe('a tile is asked for as a query is', () => {
  test('filter', async () => {
    assert.equal(valuesOf(await tile('filter[kind]=even')).length, 10)
    assert.deepEqual(valuesOf(await tile('filter[pop][$gte]=1900')), [19, 20])
    assert.deepEqual(valuesOf(await tile('filter[id][$in]=3,4')), [3, 4])
    assert.deepEqual(valuesOf(await tile(`filter=${encodeURIComponent('{"$or":[{"id":1},{"name":"n5"}]}')}`)), [1, 5])
    assert.deepEqual(valuesOf(await tile('filter[geom][$bbox]=0.5,0,2.5,20')), [1, 2])
  })

  test('filter in CQL2, in text and in JSON', async () => {
    const rows = async (query: string) => {
      const reply = await maps.get(`/api/v1/datasets/${dataset}/query?attributes=id&sort=id&${query}`)
      return reply.statusCode === 200 ? reply.json().map((row: { id: number }) => row.id) : reply.body
    }
    const inText = (filter: string, name = 'cql2-text') => `filter-lang=${name}&filter=${encodeURIComponent(filter)}`
    const { op, args } = { op: '>', args: [{ op: '*', args: [{ property: 'id' }, 2] }, 38] }
    const asked: [string, readonly number[]][] = [
      [inText("kind = 'even' AND pop >= 1900"), [20]],
      [inText('S_INTERSECTS(geom, BBOX(0.5,0,2.5,20)) OR id * 100 > pop + 1'), [1, 2]],
      [inText("casei(name) IN (casei('N5'), 'N6')"), [5]],
      [inText("name ILIKE 'N1_'", 'cql-text'), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]],
      [inText('true'), Array.from({ length: 20 }, (_, index) => index + 1)],
      [inText(JSON.stringify({ op, args }), 'cql2-json'), [20]],
    ]
    for (const [query, expected] of asked) {
      assert.deepEqual(await rows(query), expected, query)
      assert.deepEqual(valuesOf(await tile(query)), expected, query)
    }
    const statistics = `/api/v1/datasets/${dataset}/attributes/pop/statistics?${inText('id > 18')}`
    assert.equal((await maps.get(statistics)).json().max, 2000)
  })

  test('attributes: only these, and the id of the feature as ever', async () => {
    const [first] = featuresOf((await tile('attributes=name,kind&filter[id]=3')).rawPayload)
    assert.deepEqual({ ...first?.properties }, { name: 'n3', kind: 'odd' })
    assert.equal(first?.id, 3)
  })

  test('limit: at most so many, always the same', async () => {
    assert.deepEqual(valuesOf(await tile('limit=3')), [1, 2, 3])
    assert.equal(valuesOf(await tile('limit=100')).length, 20)
  })

  test('what only caches read changes nothing, and what nobody reads is refused', async () => {
    const { etag } = (await tile('')).headers
    for (const query of ['v=3', '_=1700000000', 'v=3&_=4&tile-version=old']) {
      const answer = await tile(query)
      assert.deepEqual([answer.statusCode, answer.headers.etag], [200, etag], query)
      assert.equal((await maps.get(`/tiles/${id}/index.json?${query}`)).statusCode, 200)
    }
    for (const query of ['fliter[id]=3', 'version=3', 'V=3']) {
      for (const path of ['0/0/0.mvt', '9/0/0.mvt', 'index.json', 'style.json']) {
        assert.equal((await maps.get(`/tiles/${id}/${path}?${query}`)).statusCode, 400, `${path} ${query}`)
      }
    }
    assert.equal((await maps.get('/tiles/basemap/0/0/0.mvt?v=1&_=2')).statusCode, 200)
    assert.equal((await maps.get('/tiles/basemap/0/0/0.mvt?filter[a]=1')).statusCode, 400)
  })

  test('a tile that a source does not have is 404 with what it has, of the base map too', async () => {
    const refusals = {
      [`/tiles/${id}/0/0/0.png`]: 'This source has no png tiles. Ask for mvt or pbf or geojson.',
      '/tiles/basemap/0/0/0.png': 'This source has no png tiles. Ask for mvt or pbf.',
      '/tiles/basemap/0/0/0.geojson': 'This source has no geojson tiles. Ask for mvt or pbf.',
      '/tiles/basemap/7/0/0.mvt': 'This source has tiles from zoom 0 to 6.',
    }
    for (const [path, detail] of Object.entries(refusals)) {
      const answer = await maps.get(path)
      assert.deepEqual([answer.statusCode, answer.json().detail], [404, detail], path)
    }
  })

  test('wrong parameters are the same errors', async () => {
    for (const query of [
      'filter[nope]=1',
      'filter[id]=abc',
      'filter[id][$nope]=1',
      'filter[geom][$bbox]=1,2',
      'filter=1',
      'filter-lang=cql2-text&filter=nope=1',
      'filter-lang=cql2-text&filter[id]=1',
      'filter-lang=cql2-json&filter={',
      'filter-lang=cql3&filter=true',
      'attributes=nope',
      'limit=-1',
      'limit=1.5',
      'limit=a',
      'explain=maybe',
    ]) {
      const here = await tile(query)
      const there = await maps.get(`/api/v1/datasets/${dataset}/query?${query}`)
      assert.equal(here.statusCode, 400, query)
      assert.equal(there.statusCode, 400, query)
      assert.deepEqual(here.json().errors, there.json().errors, query)
      assert.equal(here.json().code, there.json().code, query)
    }
  })

  test('wrong parameters are errors where there is nothing to see too', async () => {
    const far = (query: string) => maps.get(`/tiles/${id}/4/0/0.mvt?${query}`)
    assert.equal((await far('filter[id]=1')).statusCode, 204)
    for (const query of [
      'filter[nope]=1',
      'filter[id]=abc',
      'filter[id][$nope]=1',
      'filter[geom][$bbox]=1,2',
      'filter=1',
      'attributes=nope',
      'attributes=count(*)',
      'limit=-1',
    ]) {
      const reply = await far(query)
      assert.equal(reply.statusCode, 400, query)
      assert.deepEqual(reply.json().errors, (await tile(query)).json().errors, query)
    }
  })

  test('aggregates are refused: a tile shows rows', async () => {
    assert.equal((await tile('attributes=count(*)')).statusCode, 400)
  })

  test('the same question in other words is the same tile', async () => {
    const tag = async (query: string) => (await tile(query)).headers.etag
    assert.equal(await tag('filter[kind]=even&filter[id]=2'), await tag('filter[id]=2&filter[kind]=even'))
    assert.notEqual(await tag('filter[id]=2'), await tag('filter[id]=3'))
  })
})

describe('parameters of the dataset', () => {
  test('are given in the address, and a tile of one value is never that of another', async () => {
    const query = await maps.dataset({
      type: 'sql',
      source: 'SELECT * FROM places WHERE kind = :kind AND pop > :least',
      metadata: {
        parameters: [
          { name: 'kind', type: 'string' },
          { name: 'least', type: 'integer', default: 0 },
        ],
      },
    })
    const near = await maps.tileSource({ source: query, extentLngLat: [0, 0, 30, 30] })
    for (const map of [query, near]) {
      const ask = (rest: string) => maps.get(`/tiles/${map}/0/0/0.mvt${rest}`)
      assert.equal(valuesOf(await ask('?kind=even')).length, 10)
      assert.deepEqual(valuesOf(await ask('?kind=odd&least=1800')), [19])
      assert.deepEqual(valuesOf(await ask('?kind=even&least=1800')), [20])
      assert.equal((await ask('')).statusCode, 400)
      assert.equal((await ask('?kind=even&least=x')).statusCode, 400)
      assert.equal((await ask('?kind[a]=even')).statusCode, 400)
      const far = (rest: string) => maps.get(`/tiles/${map}/4/0/0.mvt${rest}`)
      for (const rest of ['', '?kind=even&least=x', '?kind[a]=even']) assert.equal((await far(rest)).statusCode, 400)
      assert.equal((await ask(`?kind=${encodeURIComponent("' OR '1'='1")}`)).statusCode, 204)
    }
  })
})

describe('a parameter with any name', () => {
  test('is a parameter: nothing that we put into an address can be one', async () => {
    const source = 'SELECT * FROM places WHERE id = :v + :version'
    const parameters = ['v', 'version'].map((name) => ({ name, type: 'integer', default: 0 }))
    const map = await maps.dataset({ type: 'sql', source, metadata: { parameters } })
    for (const [v, version] of [
      [1, 2],
      [2, 2],
      [3, 4],
    ] as const) {
      const [address] = (await maps.get(`/tiles/${map}/index.json?v=${v}&version=${version}`)).json().tiles
      const { pathname, search } = new URL(address.replace('{z}/{x}/{y}', '0/0/0'))
      assert.deepEqual(valuesOf(await maps.get(`${pathname}${search}`)), [v + version])
    }
  })
})

describe('X-Tile-Features', () => {
  test('says how many there are, of how many', async () => {
    assert.equal((await tile('')).headers['x-tile-features'], '20/20')
    assert.equal((await tile('filter[kind]=even')).headers['x-tile-features'], '10/10')
    const few = await maps.tileSource({ source: dataset, metadata: { tiles: { maxFeatures: 5 } } })
    const reply = await maps.get(`/tiles/${few}/0/0/0.mvt`)
    assert.equal(valuesOf(reply).length, 5)
    assert.equal(reply.headers['x-tile-features'], '5/20')
  })

  test('counts what a limit leaves out', async () => {
    for (const [limit, expected] of [
      [0, '0/20'],
      [3, '3/20'],
      [19, '19/20'],
      [20, '20/20'],
      [100, '20/20'],
    ])
      assert.equal((await tile(`limit=${limit}`)).headers['x-tile-features'], expected)
    assert.equal((await tile('limit=3&filter[kind]=even')).headers['x-tile-features'], '3/10')
  })

  test('says that it is not sure where only boxes were counted, or the planner asked', async () => {
    await maps.script(`
      CREATE TABLE slopes (id int PRIMARY KEY, geom geometry(LineString, 4326));
      INSERT INTO slopes SELECT g, ST_SetSRID(ST_MakeLine(ST_Point(g, 1), ST_Point(g + 30, 40)), 4326)
      FROM generate_series(1, 20) g;
      CREATE TABLE crowd (id int PRIMARY KEY, geom geometry(Point, 4326));
      INSERT INTO crowd SELECT g, ST_Point(g % 60, g % 50, 4326) FROM generate_series(1, 200000) g; ANALYZE crowd`)
    const slopes = await maps.dataset({ source: 'slopes' })
    const source = await maps.dataset({ source: 'crowd' })
    const crowd = await maps.tileSource({ source, metadata: { tiles: { overviews: false } } })
    const of = async (map: string, limit: number) =>
      String((await maps.get(`/tiles/${map}/0/0/0.mvt?limit=${limit}`)).headers['x-tile-features'])
    assert.equal(await of(slopes, 3), '3/~20')
    assert.equal(await of(slopes, 30), '20/20')
    const [, total = ''] = /^3\/~(\d+)$/.exec(await of(crowd, 3)) ?? []
    assert.ok(Number(total) > 100_000, total)
  })
})

describe('a tile as GeoJSON', () => {
  test('has the features of the vector tile', async () => {
    const [vector, json] = [featuresOf((await tile('')).rawPayload), (await tile('', 'geojson')).json()]
    assert.equal(json.type, 'FeatureCollection')
    assert.equal(json.features.length, vector.length)
    for (const [index, feature] of vector.entries()) {
      const expected = feature.toGeoJSON(0, 0, 0)
      assert.equal(json.features[index].id, feature.id)
      assert.deepEqual(json.features[index].properties, { ...feature.properties })
      const [x, y] = json.features[index].geometry.coordinates
      const [a, b] = (expected.geometry as unknown as { coordinates: [number, number] }).coordinates
      assert.ok(Math.abs(x - a) < 1e-6 && Math.abs(y - b) < 1e-6)
    }
  })

  test('is typed so and filtered alike', async () => {
    const reply = await tile('filter[id]=3&attributes=name', 'geojson')
    assert.match(String(reply.headers['content-type']), /^application\/geo\+json/)
    assert.deepEqual(
      reply.json().features.map(({ properties }: { properties: object }) => properties),
      [{ name: 'n3' }],
    )
  })
})

describe('explain', () => {
  test('says how a tile is made, what it costs and whether it is kept', async () => {
    const reply = await tile('explain=true&filter[kind]=even&limit=50')
    assert.equal(reply.statusCode, 200, reply.body)
    assert.match(String(reply.headers['content-type']), /^application\/json/)
    const body = reply.json()
    assert.equal(body.features, '10/10')
    assert.equal(body.rows, 10)
    assert.equal(body.cache, 'miss')
    assert.ok(body.bytes.tile > 0 && body.bytesPerAttribute.name > 0)
    assert.match(body.sql, /SELECT/)
    assert.ok(body.plan['Node Type'])
    await tile('filter[kind]=even&limit=50')
    assert.equal((await tile('explain=true&filter[kind]=even&limit=50')).json().cache, 'hit')
  })

  test('shows neither SQL nor plan to a key that may not read the dataset', async () => {
    const key = await maps.app.key(maps.tenant.id, { tiles: { execute: '*' }, datasets: { execute: '*' } })
    const reply = await maps.get(`/tiles/${id}/0/0/0.mvt?explain=true`, {}, key)
    assert.equal(reply.statusCode, 200)
    for (const name of ['sql', 'plan', 'hints']) assert.equal(reply.json()[name], undefined, name)
    assert.ok(!reply.body.includes('SELECT'))
  })

  test('of wrong parameters is the same error as the tile', async () => {
    assert.equal((await tile('explain=true&filter[nope]=1')).statusCode, 400)
  })
})
