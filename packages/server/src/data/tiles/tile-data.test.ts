import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { later } from '../../../testing/processes/clock.ts'
import { featuresOf, type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'
import { sql } from '../../kernel/db/sql.ts'

const skip = process.env.TEST_DATABASE_URL === undefined ? 'embedded there is no server' : false

let maps: TileApp
before(async () => {
  maps = await tileApp()
  // Aachen and Berlin.
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO places VALUES (1, ST_Point(6.08, 50.77, 4326)), (2, ST_Point(13.4, 52.52, 4326))`)
})
after(() => maps.close())

async function dataset(name: string, ddl: string, rest: object = {}): Promise<string> {
  await maps.script(ddl)
  return maps.dataset({ source: name, ...rest })
}
const tile = (id: string, place = '0/0/0', query = '') => maps.get(`/tiles/${id}/${place}.mvt${query}`)

/** Where the features of a tile are, in degrees. */
async function whereabouts(id: string, place = '0/0/0'): Promise<[number, number][]> {
  const [z, x, y] = place.split('/').map(Number) as [number, number, number]
  const reply = await tile(id, place)
  assert.equal(reply.statusCode, 200, `${place} ${reply.body}`)
  return featuresOf(reply.rawPayload).map((feature) => {
    const { coordinates } = feature.toGeoJSON(x, y, z).geometry as unknown as { coordinates: [number, number] }
    return coordinates
  })
}

const berlinRow = (z: number) =>
  Math.floor((0.5 - Math.asinh(Math.tan((52.52 * Math.PI) / 180)) / (2 * Math.PI)) * 2 ** z)

async function isAachenAndBerlin(id: string): Promise<void> {
  for (const [place, expected, error] of [
    [
      '0/0/0',
      [
        [6.08, 50.77],
        [13.4, 52.52],
      ],
      0.1,
    ],
    [
      '4/8/5',
      [
        [6.08, 50.77],
        [13.4, 52.52],
      ],
      0.01,
    ],
    ['10/529/343', [[6.08, 50.77]], 0.0002],
    ['13/4400/2686', [[13.4, 52.52]], 0.0001],
  ] as [string, number[][], number][]) {
    const found = await whereabouts(id, place)
    assert.equal(found.length, expected.length, place)
    for (const [index, [lon, lat]] of found.entries()) {
      assert.ok(Math.abs(lon - (expected[index]?.[0] ?? 0)) < error, `${place}: ${lon}`)
      assert.ok(Math.abs(lat - (expected[index]?.[1] ?? 0)) < error, `${place}: ${lat}`)
    }
  }
}

describe('a map shows data where they are', () => {
  for (const [what, type, value, rest] of [
    ['in degrees', 'geometry(Point, 4326)', 'geom', {}],
    ['in web mercator', 'geometry(Point, 3857)', 'ST_Transform(geom, 3857)', {}],
    ['in another projection', 'geometry(Point, 25832)', 'ST_Transform(geom, 25832)', {}],
    ['as geography', 'geography(Point, 4326)', 'geom::geography', {}],
    ['without a SRID, in degrees', 'geometry(Point)', 'ST_SetSRID(geom, 0)', {}],
    [
      'without a SRID, which the dataset says',
      'geometry(Point)',
      'ST_SetSRID(ST_Transform(geom, 25832), 0)',
      { metadata: { srid: 25832 } },
    ],
    [
      'without a SRID, in web mercator',
      'geometry(Point)',
      'ST_SetSRID(ST_Transform(geom, 3857), 0)',
      { metadata: { srid: 3857 } },
    ],
    ['with heights and measures', 'geometry(PointZM, 4326)', 'ST_Force4D(geom)', {}],
    ['with measures', 'geometry(PointM, 25832)', 'ST_Force3DM(ST_Transform(geom, 25832))', {}],
    ['of any kind', 'geometry', 'geom', {}],
  ] as const) {
    test(what, async () => {
      const name = `t_${what.toLowerCase().replaceAll(/\W/g, '_')}`
      const id = await dataset(
        name,
        `CREATE TABLE ${name} (id int PRIMARY KEY, place ${type}); INSERT INTO ${name} SELECT id, ${value} FROM places;
         CREATE INDEX ON ${name} USING gist (place)`,
        rest,
      )
      await isAachenAndBerlin(id)
    })
  }

  test('in a view, in a query, and in a table without a key', async () => {
    await isAachenAndBerlin(await dataset('seen', 'CREATE VIEW seen AS SELECT * FROM places'))
    await isAachenAndBerlin(await maps.dataset({ type: 'sql', source: 'SELECT * FROM places ORDER BY id' }))
    await isAachenAndBerlin(await dataset('keyless', 'CREATE TABLE keyless AS SELECT * FROM places ORDER BY id'))
  })

  test('whatever its columns are called', async () => {
    const name = `the "geom" of Zoë's; --\\ 地`
    const quoted = `"${name.replaceAll('"', '""')}"`
    const id = await dataset(
      'odd',
      `CREATE TABLE odd ("the id" int PRIMARY KEY, ${quoted} geometry(Point, 4326), "a""b" text);
       INSERT INTO odd SELECT id, geom, 'x' FROM places`,
    )
    await isAachenAndBerlin(id)
    const [first] = featuresOf((await tile(id)).rawPayload)
    assert.deepEqual({ ...first?.properties }, { 'the id': 1, 'a"b': 'x' })
  })

  test('on the other side of the world where they cross the date line', async () => {
    const id = await dataset(
      'crossing',
      `CREATE TABLE crossing (id int PRIMARY KEY, geom geometry(Geometry, 4326));
       INSERT INTO crossing VALUES (1, ST_Point(175, 0, 4326)), (2, ST_Point(185, 0, 4326)),
         (3, ST_MakeEnvelope(170, -5, 190, 5, 4326))`,
    )
    const source = await maps.tileSource({ source: id })
    for (const map of [id, source]) {
      assert.deepEqual(valuesOf(await tile(map, '3/7/4')).sort(), [1, 3], map)
      assert.deepEqual(valuesOf(await tile(map, '3/0/4')).sort(), [2, 3], map)
      assert.deepEqual(
        (await maps.get(`/tiles/${map}/index.json`))
          .json()
          .bounds.slice(0, 4)
          .filter((_: number, i: number) => i % 2 === 0),
        [-180, 180],
      )
    }
  })

  test('of another server, which is asked once for many tiles', async () => {
    const rows = [
      { id: 1, name: 'Aachen', geom: { type: 'Point', coordinates: [6.08, 50.77] } },
      { id: 2, name: 'Berlin', geom: { type: 'Point', coordinates: [13.4, 52.52] } },
    ]
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      response.setHeader('content-type', 'application/json').end(JSON.stringify(rows))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const id = await maps.dataset({ type: 'rest', source: `http://127.0.0.1:${port}/rows` })
      await isAachenAndBerlin(id)
      assert.deepEqual(valuesOf(await tile(id, '0/0/0', '?filter[name]=Berlin'), 'name'), ['Berlin'])
      assert.equal((await tile(id, '0/0/0', '?limit=1')).headers['x-tile-features'], '1/2')
      assert.deepEqual(valuesOf(await tile(id, '3/4/2', '?aggregate=grid:1'), 'count'), [2])
      const cells = (await maps.get(`/api/v1/datasets/${id}/query?aggregate=h3:5`)).json()
      assert.deepEqual(
        cells.map(({ count }: { count: number }) => count),
        [1, 1],
      )
      const before = asked
      const places = Array.from({ length: 12 }, (_, z) => `${z}/${Math.floor((193.4 / 360) * 2 ** z)}/${berlinRow(z)}`)
      const replies = await Promise.all(places.map((place) => tile(id, place, '?attributes=name')))
      for (const reply of replies) assert.ok(valuesOf(reply, 'name').includes('Berlin'))
      // Once for the rows, and again for them and where they are when fifteen seconds are over meanwhile.
      assert.ok(asked - before <= 3, `${asked - before} times`)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})

describe('a row that is not as it should be', () => {
  test('never costs the others their tile', async () => {
    const id = await dataset(
      'bad',
      `CREATE TABLE bad (id int PRIMARY KEY, n numeric, f float8, at timestamptz, geom geometry(Geometry, 4326));
       INSERT INTO bad VALUES
         (1, 'NaN', 'NaN', 'infinity', ST_SetSRID('POINT(NaN NaN)'::geometry, 4326)),
         (2, 1, 'Infinity', '-infinity', ST_SetSRID('POINT EMPTY'::geometry, 4326)),
         (3, 1e100, 1, NULL, ST_SetSRID('POLYGON((0 0, 10 10, 10 0, 0 10, 0 0))'::geometry, 4326)),
         (4, 1, 1, NULL, ST_SetSRID('GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 5 5))'::geometry, 4326)),
         (5, 1, 1, NULL, NULL),
         (6, 1, 1, '4713-01-01 BC', ST_SetSRID('POINT(1e300 1e300)'::geometry, 4326)),
         (7, 1, 1, NULL, ST_SetSRID('LINESTRING(0 0, 0 0)'::geometry, 4326)),
         (8, 1, 1, NULL, ST_SetSRID('POLYGON((0 0, 0 0, 0 0, 0 0))'::geometry, 4326)),
         (9, 1, 1, NULL, ST_SetSRID('CURVEPOLYGON(CIRCULARSTRING(0 0, 4 0, 4 4, 0 4, 0 0))'::geometry, 4326)),
         (10, 1, 1, NULL, ST_SetSRID('MULTIPOLYGON EMPTY'::geometry, 4326)),
         (11, 1, 1, NULL, ST_SetSRID('POINT(5 200)'::geometry, 4326)),
         (12, 1, 1, NULL, ST_Point(3, 3, 4326))`,
    )
    for (const place of ['0/0/0', '3/4/3', '6/32/31', '10/520/503']) {
      const reply = await tile(id, place)
      assert.ok(reply.statusCode === 200 || reply.statusCode === 204, `${place} ${reply.body}`)
    }
    const seen = valuesOf(await tile(id, '3/4/3'))
    assert.ok(seen.includes(12), String(seen))
    assert.equal((await maps.get(`/tiles/${id}/index.json`)).statusCode, 200)
  })
})

describe('a row outside of where its reference system is defined', () => {
  // What is right is at 9° east, 50° north; a line and an area lead from there to where there is nothing.
  const here = ['0/0/0', '2/2/1', '4/8/5', '9/268/173']
  const elsewhere = ['1/0/1', '4/0/8', '5/0/20', '6/1/42']
  const wrong = {
    4258: ['5 200', '5 90.05', '5 -91', '600 5', '1e999 5', '5 -1e999', '1e300 1e300'],
    4269: ['5 200', '-700 1'],
    25832: ['1.9e7 5e6', '-2e7 0', '1e300 5', '1e999 5e6', '5e5 -1e999'],
    3035: ['1.9e7 1.9e7', '-1e7 -1e7', '1e999 0'],
    2056: ['1e300 1e300', '1e999 1', '1e7 -1e999'],
    // The database itself has to find out.
    54009: ['1e7 1e7', '0 1e7', '1.7e7 8e6'],
  }
  // Which rows are left out is decided by what is sent to the database; the embedded one is asked in a system whose limits are
  // known, and in one whose limits it has to find out itself.
  const tried = skip ? ['25832', '54009'] : Object.keys(wrong)
  for (const [srid, places] of Object.entries(wrong).filter(([srid]) => tried.includes(srid))) {
    const right = `ST_Transform(ST_Point(9, 50, 4326), ${srid})`
    const bad = places.map((place) => `ST_GeomFromText('POINT(${place})', ${srid})`)
    const area = (point: string) =>
      `ST_SetSRID(ST_MakePolygon(ST_MakeLine(ARRAY[${right}, ${point}, ST_Translate(${right}, 1, 1), ${right}])), ${srid})`
    const shapes = bad.flatMap((point) => [point, `ST_MakeLine(${right}, ${point})`, area(point)])
    for (const [type, rows] of [
      ['Point', bad],
      ['Geometry', shapes],
    ] as const) {
      test(`${type}, ${srid}: is left out, and the others are shown, in clusters too`, async () => {
        const name = `out_${srid}_${type}`
        const id = await dataset(
          name,
          `CREATE TABLE "${name}" (id int PRIMARY KEY, geom geometry(${type}, ${srid}));
           INSERT INTO "${name}" VALUES (0, ${right}); CREATE INDEX ON "${name}" USING gist (geom);
           INSERT INTO "${name}" VALUES ${rows.map((row, index) => `(${index + 1}, ${row})`).join(', ')}`,
        )
        const source = await maps.tileSource({ source: id, metadata: { tiles: { cluster: { maxZoom: 6 } } } })
        for (const place of [id, source].flatMap((map) => here.map((tile) => `${map}/${tile}`))) {
          const reply = await maps.get(`/tiles/${place}.mvt`)
          assert.equal(reply.statusCode, 200, `${place} ${reply.body}`)
          const [z = 0, x = 0, y = 0] = place.split('/').slice(1).map(Number)
          const found = featuresOf(reply.rawPayload).find(({ properties }) => properties.id === 0)
          assert.ok(found, `${place} ${valuesOf(reply)}`)
          const { coordinates } = found.toGeoJSON(x, y, z).geometry as unknown as { coordinates: [number, number] }
          const error = Math.hypot(coordinates[0] - 9, coordinates[1] - 50)
          assert.ok(error < 0.2 / 2 ** z, `${place} ${coordinates}`)
        }
        for (const place of [id, source].flatMap((map) => elsewhere.map((tile) => `${map}/${tile}`))) {
          const reply = await maps.get(`/tiles/${place}.mvt`)
          assert.ok([200, 204].includes(reply.statusCode), `${place} ${reply.body}`)
        }
      })
    }
  }

  test('is left out where every row has a system of its own', async () => {
    const rows = Object.entries(wrong).flatMap(([srid, places]) => [
      `ST_Transform(ST_Point(9, 50, 4326), ${srid})`,
      ...places.map((place) => `ST_GeomFromText('POINT(${place})', ${srid})`),
    ])
    const id = await dataset(
      'out_mixed',
      `CREATE TABLE out_mixed (id serial PRIMARY KEY, geom geometry); INSERT INTO out_mixed (geom) VALUES (${rows.join('), (')})`,
    )
    for (const place of here) {
      const reply = await tile(id, place)
      assert.equal(reply.statusCode, 200, reply.body)
      assert.equal(valuesOf(reply).length, Object.keys(wrong).length, place)
    }
  })

  test('is known by the false origin of the system', async () => {
    const id = await dataset(
      'far_east',
      `CREATE TABLE far_east AS SELECT id, ST_Transform(geom, 4647)::geometry(Point, 4647) AS geom FROM places`,
    )
    await isAachenAndBerlin(id)
  })
})

describe('a table that changes its columns', () => {
  test('between two tiles still gives the second', async () => {
    const id = await dataset('altered', 'CREATE TABLE altered AS SELECT id, geom, 1 AS a FROM places')
    for (const change of [
      'ALTER TABLE altered ADD b text DEFAULT 1',
      'ALTER TABLE altered ALTER a TYPE int8',
      'ALTER TABLE altered ALTER id TYPE int8',
      'ALTER TABLE altered ALTER geom TYPE geometry(Point) USING ST_SetSRID(geom, 0)',
      'ALTER TABLE altered ALTER geom TYPE geometry(Point, 4326) USING ST_SetSRID(geom, 4326)',
    ]) {
      assert.equal(valuesOf(await tile(id)).length, 2)
      await maps.script(change)
      later(1_000)
      const reply = await tile(id)
      const isKnown = reply.statusCode === 200 || /SRID|type/.test(reply.body)
      assert.ok(isKnown, `${change}: ${reply.statusCode} ${reply.body}`)
    }
    assert.equal(valuesOf(await tile(id)).length, 2)
  })

  test('is an error in plain words when a column is gone', async () => {
    const id = await dataset('dropped', 'CREATE TABLE dropped AS SELECT id, geom, 1 AS a FROM places')
    assert.equal((await tile(id)).statusCode, 200)
    await maps.script('ALTER TABLE dropped DROP a')
    const reply = await tile(id, '0/0/0', '?limit=9')
    assert.equal(reply.statusCode, 400)
    assert.match(reply.json().detail, /does not exist.*POST \/datasets\/\{id\}\/refresh/)
    assert.ok(!reply.body.includes('SELECT'))
  })
})

describe('a database that was away', { skip }, () => {
  test('between two tiles still gives the second', async () => {
    const id = await dataset('lost', 'CREATE TABLE lost AS SELECT * FROM places')
    const filters = Array.from({ length: 8 }, (_, index) => `?filter[id][$gt]=-${index}`)
    await Promise.all(filters.map((filter) => tile(id, '0/0/0', filter)))
    const client = new pg.Client({ connectionString: maps.app.adminUrl })
    await client.connect()
    const ended = await client.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'graticule tiles'`)
    await client.end()
    assert.ok((ended.rowCount ?? 0) > 0)
    for (const filter of filters) {
      const reply = await tile(id, '0/0/0', `${filter}&limit=7`)
      assert.equal(reply.statusCode, 200, reply.body)
    }
    const [row] = await maps.app.db.query<{ n: number }>(
      sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'graticule tiles' AND datname = current_database()`,
    )
    assert.ok((row?.n ?? 0) > 0)
  })
})
