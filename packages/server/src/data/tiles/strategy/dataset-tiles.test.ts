import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { featuresOf, type TileApp, tileApp } from '../../../../testing/tiles.ts'

// What the database says of a dataset's tiles: their features, the extent of a table, and which index is missing.

let maps: TileApp
before(async () => {
  maps = await tileApp()
})
after(() => maps.close())

describe('a dataset is a map', () => {
  test('its tile has the features that lie in it, with their attributes', async () => {
    await maps.script(`
      CREATE TABLE places (
        id int8 PRIMARY KEY, name text, pop int8, area numeric, open bool, at timestamptz, day date, tags text[],
        info jsonb, code uuid, bytes bytea, ratio float8, geom geometry(Point, 4326));
      INSERT INTO places VALUES
        (1, 'Aachen', 9007199254740993, 160.85, true, '2026-01-31 10:00:00.5+00', '2026-01-31', '{a,"b c"}',
         '{"x": [1, null]}', '00000000-0000-4000-8000-000000000001', '\\x00ff', 'NaN', ST_Point(6.08, 50.77, 4326)),
        (2, 'Berlin', 3700000, 891.12, false, 'infinity', '2000-01-01', '{}', '{}', NULL, NULL, 0.1,
         ST_Point(13.4, 52.52, 4326)),
        (3, 'nowhere', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (4, 'Suva', 93970, 2048, true, '2026-06-01T00:00:00Z', '2026-06-01', '{x}', '[]', NULL, NULL, 1e20,
         ST_Point(178.44, -18.14, 4326));
      CREATE INDEX ON places USING gist (geom)`)
    const places = await maps.dataset({ source: 'places' })
    const reply = await maps.get(`/tiles/${places}/0/0/0.mvt`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.headers['content-type'], 'application/vnd.mapbox-vector-tile')
    assert.equal(reply.headers['x-tile-features'], '3/3')
    const [aachen, berlin] = featuresOf(reply.rawPayload)
    assert.equal(aachen?.id, 1)
    assert.deepEqual(
      { ...aachen?.properties },
      {
        id: 1,
        name: 'Aachen',
        pop: '9007199254740993',
        area: 160.85,
        open: true,
        at: '2026-01-31T10:00:00.5Z',
        day: '2026-01-31',
        tags: '["a","b c"]',
        info: '{"x": [1, null]}',
        code: '00000000-0000-4000-8000-000000000001',
        ratio: 'NaN',
      },
    )
    assert.equal(berlin?.properties.open, false)
  })
})

async function hintsOf(dataset: Record<string, unknown>): Promise<string[]> {
  const id = await maps.dataset(dataset)
  const reply = await maps.get(`/tiles/${id}/8/135/77.mvt?explain=true`)
  assert.equal(reply.statusCode, 200, reply.body)
  return (reply.json().hints as string[]).filter((hint) => hint.includes('spatial index'))
}

const table = (name: string, rows: number): string => `
  CREATE TABLE ${name} (id int PRIMARY KEY, geom geometry(Point, 4326));
  INSERT INTO ${name} SELECT i, ST_Point(10 + i % 100 / 10.0, 40 + i % 90 / 10.0, 4326) FROM generate_series(1, ${rows}) AS i;`

describe('explain says that a spatial index is missing', () => {
  for (const rows of [10, 20_000]) {
    test(`of a table of ${rows} rows, analysed or not, until there is one`, async () => {
      const name = `bare_${rows}`
      await maps.script(table(name, rows))
      const missing = [
        `${maps.schema}.${name} has no spatial index on "geom", so each tile reads all of it. Add one: CREATE INDEX ON ${maps.schema}.${name} USING gist ("geom").`,
      ]
      assert.deepEqual(await hintsOf({ source: name }), missing)
      await maps.script(`ANALYZE ${name}`)
      assert.deepEqual(await hintsOf({ source: name }), missing)
      await maps.script(`CREATE INDEX ON ${name} USING gist (geom)`)
      assert.deepEqual(await hintsOf({ source: name }), [])
      await maps.script(`ANALYZE ${name}`)
      assert.deepEqual(await hintsOf({ source: name }), [])
    })
  }

  test('of the table behind a view or a query, whatever they call its column', async () => {
    await maps.script(`${table('behind', 10)} CREATE VIEW shown AS SELECT id, geom AS place FROM behind`)
    const [hint, ...others] = await hintsOf({ source: 'shown' })
    assert.match(String(hint), /behind has no spatial index on "geom"/)
    assert.deepEqual(others, [])
    const [again] = await hintsOf({ type: 'sql', source: 'SELECT id, geom AS place FROM behind' })
    assert.equal(again, hint)
  })

  test('not of one that has an index of another kind that serves', async () => {
    await maps.script(`${table('flat', 10)} CREATE INDEX ON flat USING brin (geom)`)
    assert.deepEqual(await hintsOf({ source: 'flat' }), [])
  })
})

describe('a large table', () => {
  test('has about its extent in TileJSON, and tiles of all its rows', async () => {
    await maps.script(`${table('large', 60_000)} ANALYZE large`)
    const id = await maps.dataset({ source: 'large' })
    const [west, south, east, north] = (await maps.get(`/tiles/${id}/index.json`)).json().bounds
    assert.ok(
      Math.abs(west - 10) < 1 && Math.abs(south - 40) < 1 && Math.abs(east - 20) < 1 && Math.abs(north - 49) < 1,
    )
    // Statistics do not know of it.
    await maps.script('INSERT INTO large VALUES (0, ST_Point(-100, -40, 4326))')
    const reply = await maps.get(`/tiles/${id}/4/3/9.mvt`)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.headers['x-tile-features'], '1/1')
  })
})
