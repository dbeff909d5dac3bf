import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import geographicLib from 'geographiclib-geodesic'
import { geoParquet, testFolder } from '../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { type ExternalServer, startExternalServer } from '../../../testing/peers/external-server.ts'
import { featuresOf } from '../../../testing/tiles.ts'
import { until } from '../../../testing/until.ts'
import type { Geometry, Position } from '../../query/geometry/geojson.ts'

// Rows whose longitudes lie beyond ±180, in tables that are connected as they are: every way to ask by place finds them where they are
// on the earth. What is expected is computed here with longitudes modulo 360.

type Box = readonly [west: number, south: number, east: number, north: number]
type Shape = Exclude<Geometry, { type: 'GeometryCollection' }>
type Row = { readonly id: number; readonly geometry: Shape }

/** Never on an edge of a tile or of a box, which have even thousandths. */
const odd = (low: number, high: number): Arbitrary<number> =>
  fc.noBias(fc.integer({ min: Math.round(low * 500), max: Math.round(high * 500) - 1 })).map((n) => (2 * n + 1) / 1000)
const even = (low: number, high: number): Arbitrary<number> =>
  fc.noBias(fc.integer({ min: Math.round(low * 50), max: Math.round(high * 50) })).map((n) => n / 50)

const position = fc.tuple(odd(-520, 520), odd(-78, 78))
const size = fc.tuple(odd(1, 15), odd(1, 8))
const shape: Arbitrary<Shape> = fc.oneof(
  position.map((coordinates): Shape => ({ type: 'Point', coordinates })),
  fc.tuple(position, size).map(
    ([[x, y], [w, h]]): Shape => ({
      type: 'LineString',
      coordinates: [
        [x, y],
        [x + w, y + h],
      ],
    }),
  ),
  fc
    .tuple(position, size)
    .map(([[x, y], [w, h]]): Shape => ({ type: 'Polygon', coordinates: [ring([x, y, x + w, y + h])] })),
)
const ring = ([west, south, east, north]: Box): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

/** West beyond east: over the antimeridian. */
const box: Arbitrary<Box> = fc
  .tuple(even(-180, 179), even(-80, 70), even(2, 200), even(2, 40))
  .map(([west, south, width, height]): Box => {
    const east = west + width
    return [west, south, east > 180 ? east - 360 : east, Math.min(80, south + height)]
  })

/** Fixed by the seed of the run, so that all tables hold the same. */
const [shapes = []] = fc.sample(fc.array(shape, { minLength: 150, maxLength: 150 }), {
  numRuns: 1,
  seed: Number(process.env.TEST_SEED ?? 1),
})
const rows: Row[] = [
  ...shapes,
  // A whole turn, and places that are each other's copies.
  {
    type: 'LineString',
    coordinates: [
      [-190.001, 1.001],
      [190.001, 2.001],
    ],
  } as const,
  { type: 'Point', coordinates: [190.001, 10.001] } as const,
  { type: 'Point', coordinates: [-169.999, 10.001] } as const,
  { type: 'Point', coordinates: [-529.999, 10.001] } as const,
  { type: 'Polygon', coordinates: [ring([174.999, -20.001, 184.999, -10.001])] } as const,
  { type: 'Polygon', coordinates: [ring([-185.001, -20.001, -175.001, -10.001])] } as const,
].map((geometry, index) => ({ id: index + 1, geometry }))

const turns = [-720, -360, 0, 360, 720]
const span = ([west, south, east, north]: Box): Box => [west, south, east < west ? east + 360 : east, north]

function meets({ geometry }: Row, asked: Box): boolean {
  const [west, south, east, north] = span(asked)
  return turns.some((turn) => planeMeets(geometry, [west + turn, south, east + turn, north]))
}

function planeMeets(geometry: Shape, [west, south, east, north]: Box): boolean {
  if (geometry.type === 'Point') {
    const [x, y] = geometry.coordinates
    return x >= west && x <= east && y >= south && y <= north
  }
  const { xs, ys } = axesOf(geometry)
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
  if (geometry.type === 'Polygon') return left <= east && right >= west && bottom <= north && top >= south
  // Liang and Barsky.
  const [[x1, y1], [x2, y2]] = geometry.coordinates as [Position, Position]
  let [enter, leave] = [0, 1]
  for (const [from, by, low, high] of [
    [x1, x2 - x1, west, east],
    [y1, y2 - y1, south, north],
  ] as const) {
    const [a, b] = [(low - from) / by, (high - from) / by]
    enter = Math.max(enter, Math.min(a, b))
    leave = Math.min(leave, Math.max(a, b))
  }
  return enter <= leave
}

const positionsIn = (geometry: Shape): readonly Position[] =>
  geometry.type === 'Point'
    ? [geometry.coordinates]
    : ((geometry.coordinates as Position[] | Position[][]).flat(geometry.type === 'Polygon' ? 1 : 0) as Position[])
function axesOf(geometry: Shape): { xs: number[]; ys: number[] } {
  const positions = positionsIn(geometry)
  return { xs: positions.map(([x]) => x), ys: positions.map(([, y]) => y) }
}

function isWithin({ geometry }: Row, asked: Box): boolean {
  const [west, south, east, north] = span(asked)
  const { xs, ys } = axesOf(geometry)
  if (east - west >= 360) return ys.every((y) => y >= south && y <= north)
  return turns.some(
    (turn) => xs.every((x) => x >= west + turn && x <= east + turn) && ys.every((y) => y >= south && y <= north),
  )
}

const idsOf = (kept: readonly { readonly id: number }[]): number[] => kept.map(({ id }) => id).toSorted((a, b) => a - b)
const meeting = (asked: Box): number[] => idsOf(rows.filter((row) => meets(row, asked)))

const wkt = ({ type, coordinates }: Shape): string =>
  `${type} ${JSON.stringify(type === 'Point' ? [coordinates] : coordinates)
    .replaceAll(/\[(-?[\d.]+),(-?[\d.]+)\]/g, '$1 $2')
    .replaceAll('[', '(')
    .replaceAll(']', ')')}`
const values = (srid: number, kept = rows): string =>
  kept.map(({ id, geometry }) => `(${id}, ST_GeomFromText('${wkt(geometry)}', ${srid}))`).join(', ')

const points = rows.filter(({ geometry }) => geometry.type === 'Point')
const tables = `
  CREATE TABLE {s}.indexed (id int4 PRIMARY KEY, geom geometry(Geometry, 4326));
  INSERT INTO {s}.indexed VALUES ${values(4326)};
  CREATE INDEX ON {s}.indexed USING gist (geom);
  CREATE TABLE {s}.bare (id int4 PRIMARY KEY, geom geometry(Geometry, 4326));
  INSERT INTO {s}.bare SELECT * FROM {s}.indexed;
  CREATE TABLE {s}.zero (id int4 PRIMARY KEY, geom geometry);
  INSERT INTO {s}.zero SELECT id, ST_SetSRID(geom, 0) FROM {s}.indexed WHERE geom @ ST_MakeEnvelope(-360, -90, 360, 90, 4326);
  CREATE TABLE {s}.nad (id int4 PRIMARY KEY, geom geometry(Geometry, 4269));
  INSERT INTO {s}.nad SELECT id, ST_SetSRID(geom, 4269) FROM {s}.indexed;
  CREATE INDEX ON {s}.nad USING gist (geom);
  CREATE TABLE {s}.mercator (id int4 PRIMARY KEY, geom geometry(Geometry, 3857));
  INSERT INTO {s}.mercator SELECT id, CASE WHEN x1 = x2 THEN ST_Point(x1, y1, 3857) ELSE ST_MakeEnvelope(x1, y1, x2, y2, 3857) END
  FROM (SELECT id, ST_XMin(geom) * 111319.49079327358 AS x1, ln(tan(radians(45 + ST_YMin(geom) / 2))) * 6378137 AS y1,
    ST_XMax(geom) * 111319.49079327358 AS x2, ln(tan(radians(45 + ST_YMax(geom) / 2))) * 6378137 AS y2
    FROM {s}.indexed WHERE GeometryType(geom) <> 'LINESTRING') AS corners;
  CREATE INDEX ON {s}.mercator USING gist (geom);
  CREATE TABLE {s}.points (id int4 PRIMARY KEY, geom geometry(Point, 4326));
  INSERT INTO {s}.points VALUES ${values(4326, points)};
  CREATE INDEX ON {s}.points USING gist (geom);`

let app: TestApp
let tenant: Tenant
let external: ExternalServer | undefined
let upstream: Server
let directory: string
/** Datasets with all rows. */
const doors = new Map<string, string>()
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-longitudes-'))
  upstream = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    const features = rows.map(({ id, geometry }) => ({ type: 'Feature', properties: { id }, geometry }))
    response.end(JSON.stringify({ type: 'FeatureCollection', features }))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  app = await testApp({ DATA_DIR: directory, EGRESS_ALLOW: '127.0.0.1:*' })
  tenant = await app.tenant('far')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`${tables.replaceAll('{s}', schema)} GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
  const add = async (name: string, body: object): Promise<void> => {
    const reply = await call('POST', '/api/v1/datasets', { body: { name, ...body } })
    assert.equal(reply.status, 201, `${name}: ${reply.text}`)
    doors.set(name, reply.body.id)
  }
  for (const source of ['indexed', 'bare', 'nad', 'zero', 'mercator', 'points'])
    await add(source, { type: 'table', source })
  await add('query', { type: 'sql', source: 'SELECT id, geom FROM indexed WHERE id > 0' })
  await add('service', { type: 'rest', source: url })
  await addFiles(add)
  external = await startExternalServer()
  if (!external) return
  await external.db.script(tables.replaceAll('{s}', 'public'))
  const databaseId = await external.register(app, tenant.developer)
  await add('external', { type: 'table', source: 'indexed', databaseId })
})
after(async () => {
  await app.close()
  await external?.close()
  upstream.close()
  await rm(directory, { recursive: true, force: true })
})

async function addFiles(add: (name: string, body: object) => Promise<void>): Promise<void> {
  const data = join(directory, 'files', tenant.id, 'data')
  await mkdir(data, { recursive: true })
  const list = rows.map(({ id, geometry }) => `(${id}, '${wkt(geometry)}')`).join(', ')
  const select = `SELECT id, ST_AsWKB(w::GEOMETRY) AS geom FROM (VALUES ${list}) t(id, w)`
  await testFolder({ after: () => {} }).run(geoParquet(join(data, 'rows.parquet'), select, { geometry_types: [] }))
  const made = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'Files', db: 'data' } })
  await add('files', { type: 'table', source: 'rows', databaseId: made.body.id })
}

/** Features of a web service have a geometry of this name. */
const nameIn = (door: string): string => (door === 'service' ? 'geometry' : 'geom')

/** `zero` takes only what can be degrees, and a line that is straight on the plane of degrees bends in web mercator. */
function heldIn(door: string, ids: readonly number[]): number[] {
  const shapeOf = (id: number): Shape => (rows[id - 1] as Row).geometry
  if (door === 'mercator') return ids.filter((id) => shapeOf(id).type !== 'LineString')
  if (door !== 'zero') return [...ids]
  return ids.filter((id) => axesOf(shapeOf(id)).xs.every((x) => Math.abs(x) <= 360))
}

async function ask(door: string, body: object): Promise<{ id: number; distance?: number }[]> {
  const reply = await call('POST', `/api/v1/datasets/${doors.get(door)}/query`, { body: { limit: 1000, ...body } })
  assert.equal(reply.status, 200, `${door} ${JSON.stringify(body)}: ${reply.text.slice(0, 500)}`)
  return reply.body
}

/** What an agent is told by a tool of MCP. */
async function nearby(door: string, options: object): Promise<{ id: number }[]> {
  const params = { name: 'find_nearby', arguments: { datasetId: doors.get(door), limit: 200, ...options } }
  const reply = await call('POST', '/api/v1/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } })
  assert.equal(reply.status, 200, reply.text)
  const { isError, content } = reply.body.result
  assert.notEqual(isError, true, content[0].text)
  return JSON.parse(content[0].text).rows
}

const ways: { readonly [name: string]: (door: string, asked: Box) => Promise<number[]> } = {
  $bbox: async (door, asked) => idsOf(await ask(door, { where: { [nameIn(door)]: { $bbox: asked } } })),
  '$intersects with an area': async (door, asked) => {
    const [west, south, east, north] = span(asked)
    const halves =
      east <= 180
        ? [asked]
        : ([
            [west, south, 180, north],
            [-180, south, east - 360, north],
          ] as Box[])
    // A corner more, so that it is no box.
    const areas = halves.map((half) => [
      [...ring(half).slice(0, 1), [(half[0] + half[2]) / 2, half[1]], ...ring(half).slice(1)],
    ])
    return idsOf(
      await ask(door, { where: { [nameIn(door)]: { $intersects: { type: 'MultiPolygon', coordinates: areas } } } }),
    )
  },
  'CQL2 S_INTERSECTS': async (door, asked) => {
    const filter = encodeURIComponent(`S_INTERSECTS(${nameIn(door)}, BBOX(${asked.join(', ')}))`)
    const reply = await call(
      'GET',
      `/api/v1/datasets/${doors.get(door)}/query?limit=1000&filter-lang=cql2-text&filter=${filter}`,
    )
    assert.equal(reply.status, 200, reply.text.slice(0, 300))
    return idsOf(reply.body)
  },
  'OGC bbox': async (door, asked) => {
    const reply = await call('GET', `/ogc/collections/${doors.get(door)}/items?limit=1000&bbox=${asked.join(',')}`)
    assert.equal(reply.status, 200, reply.text.slice(0, 300))
    return idsOf(
      reply.body.features.map((one: { id?: number; properties: { id: number } }) => ({
        id: Number(one.properties.id ?? one.id),
      })),
    )
  },
  'an export': async (door, asked) => {
    const reply = await call(
      'GET',
      `/api/v1/datasets/${doors.get(door)}/query?format=csv&attributes=id&filter[${nameIn(door)}][$bbox]=${asked.join(',')}`,
    )
    assert.equal(reply.status, 200, reply.text.slice(0, 300))
    return idsOf(
      reply.text
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((id) => ({ id: Number(id) })),
    )
  },
}

const numRuns = 6
/** On the plane of degrees, of those that are points; `points` has only these. */
const places = ['indexed', 'bare', 'zero', 'nad', 'mercator', 'query', 'service', 'files', 'external']
/** NAD83 is not WGS 84 everywhere: on the Aleutians PROJ moves a place by two metres. */
const offBy = (door: string): number => (door === 'nad' ? 5 : 0.01)
const isHere = (door: string): boolean => doors.has(door)

describe('rows beyond ±180', () => {
  for (const door of places) {
    for (const [way, find] of Object.entries(ways)) {
      test(`in ${door} are found by ${way} where they are on the earth`, async (t) => {
        if (!isHere(door)) return t.skip('needs an external server')
        await fc.assert(
          fc.asyncProperty(box, async (asked) => {
            assert.deepEqual(await find(door, asked), heldIn(door, meeting(asked)), JSON.stringify(asked))
          }),
          { numRuns },
        )
      })
    }

    test(`in ${door} are within a box only if all of them is`, async (t) => {
      if (!isHere(door)) return t.skip('needs an external server')
      await fc.assert(
        fc.asyncProperty(box, async (asked) => {
          const found = idsOf(await ask(door, { where: { [nameIn(door)]: { $within: asked } } }))
          const expected = idsOf(rows.filter((row) => isWithin(row, asked)))
          assert.deepEqual(found, heldIn(door, expected), JSON.stringify(asked))
        }),
        { numRuns },
      )
    })

    test(`in ${door} are nearest by their distance on the earth`, async (t) => {
      if (!isHere(door)) return t.skip('needs an external server')
      const onlyPoints = { id: { $in: points.map(({ id }) => id) } }
      await fc.assert(
        fc.asyncProperty(fc.tuple(even(-180, 180), even(-80, 80)), async ([lon, lat]) => {
          const metres = (row: Row): number => {
            const [x, y] = (row.geometry as { coordinates: Position }).coordinates
            return geographicLib.Geodesic.WGS84.Inverse(lat, lon, y, x).s12 ?? 0
          }
          const held = heldIn(door, idsOf(points)).map((id) => rows[id - 1] as Row)
          const expected = held.map((row) => ({ id: row.id, metres: metres(row) })).sort((a, b) => a.metres - b.metres)
          const found = await ask(door, { where: onlyPoints, nearest: { point: [lon, lat] }, limit: 5 })
          found.forEach(({ distance = -1 }, index) => {
            assert.ok(
              Math.abs(distance - (expected[index]?.metres ?? 0)) < offBy(door),
              `${index} from ${lon} ${lat}: ${distance}`,
            )
          })
          assert.equal(found.length, 5)
          const within = (expected[9]?.metres ?? 0) + 2 * offBy(door)
          const near = await ask(door, {
            where: { $and: [onlyPoints, { [nameIn(door)]: { $dwithin: { point: [lon, lat], distance: within } } }] },
          })
          assert.deepEqual(idsOf(near), idsOf(expected.filter(({ metres: away }) => away <= within)))
          const told = await nearby(door, { point: [lon, lat], distanceMeters: within, where: onlyPoints })
          assert.deepEqual(idsOf(told), idsOf(near), 'find_nearby of MCP')
        }),
        { numRuns },
      )
    })

    test(`in ${door} have an extent within ±180 that holds them all`, async (t) => {
      if (!isHere(door)) return t.skip('needs an external server')
      const narrow = heldIn(
        door,
        idsOf(rows.filter(({ geometry }) => axesOf(geometry).xs.every((x) => x > 170 && x < 190))),
      )
      const only = (ids: readonly number[]) =>
        ask(door, { attributes: [`extent(${nameIn(door)}) as box`], where: { id: { $in: ids } } })
      const [whole] = (await only(heldIn(door, idsOf(rows)))) as unknown as { box: Box }[]
      assert.deepEqual([whole?.box[0], whole?.box[2]], [-180, 180])
      const [some] = (await only(narrow)) as unknown as { box: Box }[]
      assert.ok(narrow.length > 1 && some)
      assert.ok(Math.abs(some.box[0]) <= 180 && Math.abs(some.box[2]) <= 180, String(some.box))
      // Cut at the antimeridian before they are transformed, they reach from there to there.
      const isTransformed = door === 'nad' || door === 'mercator'
      assert.ok(isTransformed || some.box[0] > some.box[2], String(some.box))
      const [west, south, east, north] = some.box
      const pad: Box = [west - 1e-9, south - 1e-9, east + 1e-9, north + 1e-9]
      for (const id of narrow) assert.ok(isWithin(rows[id - 1] as Row, pad), `${id} ${some.box}`)
    })

    test(`in ${door} are drawn in the tiles of their places`, async (t) => {
      if (!isHere(door)) return t.skip('needs an external server')
      const body = { type: 'dataset', name: door, source: doors.get(door) }
      const made = await call('POST', '/api/v1/tilesources', { body })
      assert.equal(made.status, 201, made.text)
      for (const name of tileNames) {
        const shown = await shownIn(made.body.id, name)
        const [inner, outer] = [tileBox(name, 0), tileBox(name, 1 / 64)]
        const surely = heldIn(door, idsOf(rows.filter((row) => meets(row, inner))))
        for (const id of surely) assert.ok(shown.has(id), `${door} ${name} lacks ${id}`)
        for (const id of shown) assert.ok(meets(rows[id - 1] as Row, outer), `${door} ${name} shows ${id}`)
      }
    })
  }
})

const upTo = (end: number): number[] => Array.from({ length: end }, (_, n) => n)
const tileNames = [
  '0/0/0',
  ...upTo(4).flatMap((x) => upTo(4).map((y) => `2/${x}/${y}`)),
  ...[0, 1, 8, 15].flatMap((x) => [6, 7, 8].map((y) => `4/${x}/${y}`)),
]

async function shownIn(id: string, name: string): Promise<Set<number>> {
  const headers = { 'x-api-key': tenant.developer }
  const reply = await app.http.inject({ url: `/tiles/${id}/${name}.mvt`, headers })
  assert.ok([200, 204].includes(reply.statusCode), reply.body)
  const features = reply.statusCode === 204 ? [] : featuresOf(reply.rawPayload)
  return new Set(features.map(({ properties }) => Number(properties.id)))
}

/** Of lines, whose edges bend on the way to a map, a little more is allowed. */
function tileBox(name: string, margin: number): Box {
  const [z = 0, x = 0, y = 0] = name.split('/').map(Number)
  const latitude = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / 2 ** z))) * 180) / Math.PI
  const bend = margin > 0 ? 0.5 : -0.5
  return [
    ((x - margin) / 2 ** z) * 360 - 180 - bend,
    latitude(y + 1 + margin) - bend,
    ((x + 1 + margin) / 2 ** z) * 360 - 180 + bend,
    latitude(y - margin) + bend,
  ]
}

test('a table within ±180 is asked for no copies of a place, until it has a row beyond', async () => {
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.near (id int4 PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO ${schema}.near SELECT n, ST_Point(n * 7919 % 361 - 180, n % 160 - 80, 4326) FROM generate_series(1, 5000) n;
    CREATE INDEX near_geom ON ${schema}.near USING gist (geom);
    GRANT SELECT ON ${schema}.near TO ${schema};
    ANALYZE ${schema}.near`)
  const { body } = await call('POST', '/api/v1/datasets', { body: { type: 'table', name: 'near', source: 'near' } })
  const url = `/api/v1/datasets/${body.id}/query?filter[geom][$bbox]=-171,9,-169,11`
  const plan = async (): Promise<string> => (await call('GET', `${url}&explain=true`)).text
  const before = await plan()
  assert.match(before, /near_geom/)
  assert.doesNotMatch(before, /BitmapOr/)
  const far = { id: 9999, geom: { type: 'Point', coordinates: [190.5, 10.5] } }
  const added = await call('POST', `/api/v1/datasets/${body.id}/rows`, { body: [far] })
  assert.equal(added.status, 201, added.text)
  await until(async () => (await call('GET', url)).body.some(({ id }: { id: number }) => id === far.id))
  const after = await plan()
  assert.match(after, /BitmapOr/)
  assert.match(after, /near_geom/)
})
