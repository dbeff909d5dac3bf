import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { later } from '../../../../testing/processes/clock.ts'
import { stays, until } from '../../../../testing/until.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'

let app: TestApp
let tenant: Tenant
let schema: string
before(async () => {
  app = await testApp({ OVERVIEW_MIN_ROWS: '5000', TILE_MAX_BYTES: '5000000', TILE_MAX_FEATURES: '2000' })
  tenant = await app.tenant('overviews')
  schema = `app_${tenant.id.replaceAll('-', '')}`
})
after(() => app.close())

/** 12 000 points in the north east, on a few hundred places: a tile is crowded with 10 000. And 100 alone elsewhere. */
async function makePoints(name: string): Promise<string> {
  await app.db.script(`
    CREATE TABLE ${schema}.${name} (id uuid PRIMARY KEY, n int4, geom geometry(Point, 4326));
    INSERT INTO ${schema}.${name} SELECT md5(i::text)::uuid, i, ST_Point(10 + i % 20, 20 + i % 19, 4326)
      FROM generate_series(1, 12000) AS i;
    INSERT INTO ${schema}.${name} SELECT md5(i::text)::uuid, i, ST_Point(-100 + i % 10, -40 + i % 7, 4326)
      FROM generate_series(12001, 12100) AS i;
    CREATE INDEX ON ${schema}.${name} USING gist (geom);
    ANALYZE ${schema}.${name};`)
  return makeDataset(name)
}

async function makeDataset(name: string): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', {
    key: tenant.developer,
    body: { type: 'table', name, source: name },
  })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function tile(id: string, path: string) {
  const reply = await app.http.inject({
    method: 'GET',
    url: `/tiles/${id}/${path}`,
    headers: { 'x-api-key': tenant.developer },
  })
  assert.ok(reply.statusCode < 300, reply.body)
  const { geometry: layer } = new VectorTile(new PbfReader(reply.rawPayload)).layers
  const features = Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index))
  return { features, counted: String(reply.headers['x-tile-features']), etag: reply.headers.etag }
}

type Record = { state: string; error: string | null; zooms: number[]; version: string; built: number }

const recordOf = async (id: string): Promise<Record | undefined> =>
  (
    await app.db.query<Record>(sql`
      SELECT state, error, zooms, version, extract(epoch FROM built_at)::float8 AS built FROM svc.overviews
      WHERE dataset_id = ${id}::uuid`)
  )[0]

const tablesOf = async (id: string): Promise<string[]> =>
  (
    await app.db.query<{ name: string }>(sql`
      SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND starts_with(relname, ${`svc_ov_${id.replaceAll('-', '')}`})
      ORDER BY relname`)
  ).map(({ name }) => name.replace(/.*_/, ''))

/** Asks for tiles until the overview is newer than `since`. */
async function built(id: string, since = 0): Promise<Record> {
  let record: Record | undefined
  await until(async () => {
    await tile(id, '0/0/0.mvt')
    record = await recordOf(id)
    assert.notEqual(record?.state, 'failed', record?.error ?? '')
    return record?.state === 'built' && record.built > since
  })
  // Tile sources are believed for a second.
  later(1_000)
  return record as Record
}

test('a large table gets an overview, and its crowded tiles say how many rows they stand for', async () => {
  const id = await makePoints('places')
  const plain = await tile(id, '0/0/0.mvt')
  assert.match(plain.counted, /^\d+\/12100$/)
  const { zooms } = await built(id)
  assert.equal(zooms[0], 0)
  const thinned = await tile(id, '0/0/0.mvt')
  const [shown = 0, total] = thinned.counted.split('/').map(Number)
  assert.equal(total, 12_100)
  assert.equal(shown, thinned.features.length)
  assert.ok(shown > 700 && shown <= 2000, thinned.counted)
  assert.notEqual(thinned.etag, plain.etag)
  assert.deepEqual(Object.keys(thinned.features[0]?.properties ?? {}).sort(), ['id', 'n', 'svc_count'])
  const sum = thinned.features.reduce((rows, feature) => rows + Number(feature?.properties.svc_count), 0)
  assert.equal(sum, 12_100, 'every row is stood for once')
  // A tile that is not crowded is thinned by the same rule: of each place at least one row is shown.
  const alone = await tile(id, '1/0/1.mvt')
  assert.match(alone.counted, /^\d+\/100$/)
  // A filter that leaves few rows shows them all.
  assert.equal((await tile(id, '0/0/0.mvt?filter[n][$lte]=1000')).counted, '1000/1000')
  assert.deepEqual(await tablesOf(id), zooms.map(String).sort())
})

const zoomTable = (id: string, zoom: number): string => `${schema}.svc_ov_${id.replaceAll('-', '')}_${zoom}`

/** The rows of an overview's table by number. */
const rowsOf = (id: string, zoom: number) =>
  app.db.query(
    raw(`SELECT id::int4 AS id, svc_count, svc_size, ST_AsText(geom) AS geom FROM ${zoomTable(id, zoom)} ORDER BY 1`),
  )

test('an overview is the same whether the key is a whole number or has to be sorted', async () => {
  // Three crowds of different density, and what has no place on the map.
  await app.db.script(`
    CREATE TABLE ${schema}.whole (id int8 PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO ${schema}.whole SELECT (i * 7919) % 60013, ST_Point(
        (ARRAY[-70, 13, 120])[1 + i % 3] + (i * 131 % 1009 - 500) / (ARRAY[9, 90, 900])[1 + i % 3]::float8,
        (ARRAY[5, 50, -40])[1 + i % 3] + (i * 37 % 997 - 500) / (ARRAY[11, 110, 1100])[1 + i % 3]::float8, 4326)
      FROM generate_series(1, 60000) AS i;
    INSERT INTO ${schema}.whole VALUES (70001, NULL), (70002, 'SRID=4326;POINT EMPTY'), (70003, 'SRID=4326;POINT(10 90)'),
      (70004, 'SRID=4326;POINT(200 10)'), (70005, 'SRID=4326;POINT(-180 -90)'), (70006, 'SRID=4326;POINT(1e9 0)');
    CREATE TABLE ${schema}.numbered AS SELECT id::text AS id, geom FROM ${schema}.whole;
    ALTER TABLE ${schema}.numbered ADD PRIMARY KEY (id);
    ANALYZE ${schema}.whole, ${schema}.numbered`)
  const [whole, numbered] = [await makeDataset('whole'), await makeDataset('numbered')]
  const [{ zooms }, other] = [await built(whole), await built(numbered)]
  assert.deepEqual(zooms, other.zooms)
  assert.ok(zooms.length > 5, 'higher zooms than those whose rows are counted first')
  const tiles = await app.db.query<{ tiles: number[] }>(sql`
    SELECT ARRAY(SELECT unnest(tiles) ORDER BY 1) AS tiles FROM svc.overviews WHERE dataset_id = ANY (${[whole, numbered]}::uuid[])`)
  assert.deepEqual(tiles[0], tiles[1])
  for (const zoom of zooms) assert.deepEqual(await rowsOf(whole, zoom), await rowsOf(numbered, zoom), `zoom ${zoom}`)
  // What the rule says: at each zoom the rows below its rate, and of each cell of a tile the one of lowest rank.
  for (const zoom of [0, 3, zooms.length - 1]) {
    const defined = await app.db.query(sql`
      WITH rule AS (SELECT (thinning #>> ARRAY['rates', ${String(zoom)}])::float8 AS rate, 2 ^ ((thinning ->> 'cellBits')::int4 + ${zoom}::int4) AS side
        FROM svc.overviews WHERE dataset_id = ${whole}::uuid),
      places AS (
        SELECT id::int4 AS id, hashtext(id::text) & 2147483647 AS rank,
          ST_Transform(ST_SetSRID(ST_Point(ST_X(geom), ST_Y(geom)), 4326), 3857) AS geom
        FROM ${raw(`${schema}.whole`)} WHERE id <= 70000),
      cells AS (SELECT id, rank, floor((ST_X(geom) / 40075016.685578488 + 0.5) * side) AS x,
        floor((ST_Y(geom) / 40075016.685578488 + 0.5) * side) AS y FROM places CROSS JOIN rule)
      SELECT id FROM (SELECT id, rank, min(rank) OVER (PARTITION BY x, y) AS lowest FROM cells) AS q CROSS JOIN rule
      WHERE rank < round(rate * 2147483648.0::float8) OR rank = lowest ORDER BY id`)
    assert.ok(defined.length > 0)
    const ids = (await rowsOf(whole, zoom)).map(({ id }) => Number(id)).filter((id) => id <= 70_000)
    const wanted = new Set(defined.map(({ id }) => Number(id)))
    assert.deepEqual(
      ids.filter((id) => !wanted.has(id)),
      [],
      `zoom ${zoom} shows no other`,
    )
    if (zoom === 0) assert.equal(ids.length, wanted.size)
  }
})

test('a change is seen at once where the table is drawn, and in the overview when it was made anew', async () => {
  const id = await makePoints('changing')
  const before = await built(id)
  await app.db.script(`INSERT INTO ${schema}.changing SELECT gen_random_uuid(), 0, ST_Point(-50, -50, 4326)`)
  later(1_000)
  assert.match((await tile(id, '1/0/1.mvt')).counted, /\/101$/)
  assert.match((await tile(id, '0/0/0.mvt')).counted, /\/12100$/)
  await built(id, before.built)
  assert.match((await tile(id, '0/0/0.mvt')).counted, /\/12101$/)
})

test('a column that is gone is not shown by the overview either', async () => {
  const id = await makePoints('forgetful')
  await built(id)
  const shown = (await tile(id, '0/0/0.mvt')).features
  assert.ok(shown.some((feature) => feature?.properties.n !== undefined))
  await app.db.script(`ALTER TABLE ${schema}.forgetful DROP n`)
  later(1_000)
  const url = `/tiles/${id}/0/0/0.mvt`
  const reply = await app.http.inject({ url, headers: { 'x-api-key': tenant.developer } })
  assert.equal(reply.statusCode, 400, 'as where the table is drawn')
})

test('a dataset takes its overview with it', async () => {
  const id = await makePoints('leaving')
  await built(id)
  assert.notDeepEqual(await tablesOf(id), [])
  await app.call('DELETE', `/api/v1/datasets/${id}`, { key: tenant.developer })
  assert.deepEqual(await tablesOf(id), [])
})

test('a tile source can do without, and a table with secrets of its own has none', async () => {
  const id = await makePoints('plain')
  const source = await app.call('POST', '/api/v1/tilesources', {
    key: tenant.developer,
    body: { type: 'dataset', source: id, metadata: { tiles: { overviews: false } } },
  })
  assert.match((await tile(source.body.id, '0/0/0.mvt')).counted, /^\d+\/12100$/)
  await app.db.script(`ALTER TABLE ${schema}.plain ENABLE ROW LEVEL SECURITY`)
  await tile(id, '0/0/0.mvt')
  await stays(async () => (await recordOf(id)) === undefined, 500)
})

test('shapes keep what can be seen, the largest first, whatever is among them', async () => {
  await app.db.script(`
    CREATE TABLE ${schema}.areas (id int4 PRIMARY KEY, geom geometry);
    INSERT INTO ${schema}.areas SELECT i, ST_Buffer(ST_Point(10 + i % 40 + i / 1e6, 20 + i % 37, 4326), 0.01, 'quad_segs=2')
      FROM generate_series(1, 12000) AS i;
    INSERT INTO ${schema}.areas VALUES (0, ST_MakeEnvelope(-60, -60, 60, 60, 4326)), (-1, NULL),
      (-2, 'SRID=4326;POLYGON EMPTY'), (-3, 'SRID=4326;POLYGON((0 0, 20 20, 30 0, 0 10, 0 0))'),
      (-4, 'SRID=4326;POLYGON((170 -89, 200 -90, 200 90, 170 89, 170 -89))'),
      (-5, 'SRID=4326;GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 30 30))'),
      (-6, 'SRID=4326;CIRCULARSTRING(0 0, 1 1, 2 0)'), (-7, 'SRID=4326;POINT(1e300 5)');
    CREATE INDEX ON ${schema}.areas USING gist (geom);
    ANALYZE ${schema}.areas;`)
  const id = await makeDataset('areas')
  await built(id)
  const { features, counted } = await tile(id, '0/0/0.mvt')
  const ids = features.map((feature) => feature?.properties.id)
  for (const wanted of [0, -3, -4, -5]) assert.ok(ids.includes(wanted), `${wanted} is missing in ${counted}`)
  // What is too small to be drawn is there all the same, once in each cell.
  assert.ok(ids.length > 100 && ids.length < 3000, counted)
})

test('points can be clusters, on which neighbouring tiles agree', async () => {
  const id = await makePoints('clustered')
  const source = await app.call('POST', '/api/v1/tilesources', {
    key: tenant.developer,
    body: { type: 'dataset', source: id, metadata: { tiles: { cluster: { maxZoom: 4, radius: 60 } } } },
  })
  const count = async (path: string) => {
    const { features, counted } = await tile(source.body.id, path)
    const clusters = features.map((feature) => feature?.properties ?? {})
    return { clusters, counted, sum: clusters.reduce((sum, { point_count: n = 1 }) => sum + Number(n), 0) }
  }
  const fromTable = await count('0/0/0.mvt')
  assert.equal(fromTable.sum, 12_100)
  const [first] = fromTable.clusters
  assert.equal(first?.cluster, true)
  assert.match(String(first?.point_count_abbreviated), /^\d+(\.\d)?k$/)
  assert.equal(first?.n, undefined)
  await built(id)
  const fromOverview = await count('0/0/0.mvt')
  assert.equal(fromOverview.sum, 12_100)
  assert.match(fromOverview.counted, /\/12100$/)
  // 22.5 degrees east is where two tiles of zoom 4 meet.
  const [west, east] = await Promise.all([tile(source.body.id, '4/8/6.mvt'), tile(source.body.id, '4/9/6.mvt')])
  const byId = new Map(east.features.map((feature) => [feature?.properties.cluster_id, feature]))
  const shared = west.features.filter((feature) => byId.has(feature?.properties.cluster_id ?? 'none'))
  for (const feature of shared) {
    assert.equal(
      feature?.properties.point_count,
      byId.get(feature?.properties.cluster_id ?? '')?.properties.point_count,
    )
  }
  assert.equal((await tile(source.body.id, '5/17/13.mvt')).features[0]?.properties.cluster, undefined)
})

type Place = [longitude: number, latitude: number]
type Case = { name: string; shape: string; inside: Place[]; outside: Place[] }

const cases: Case[] = [
  {
    name: 'a bow-tie at the south pole',
    shape: 'POLYGON((0 -90, 20 -60, 20 -90, 0 -60, 0 -90))',
    inside: [
      [2, -75],
      [18, -75],
    ],
    outside: [
      [10, -62],
      [10, 0],
      [-90, 40],
      [90, -70],
    ],
  },
  {
    name: 'a polar cap that crosses itself',
    shape: 'POLYGON((-180 -90, 180 -90, 180 -60, 10 -50, 20 -70, -20 -70, -10 -50, -180 -60, -180 -90))',
    inside: [
      [0, -80],
      [-170, -65],
      [100, -80],
    ],
    outside: [
      [0, -60],
      [0, 0],
      [100, 40],
    ],
  },
  {
    name: 'a bow-tie across the antimeridian',
    shape: 'POLYGON((165 0, 190 20, 190 0, 165 20, 165 0))',
    inside: [
      [168, 10],
      [-172, 10],
    ],
    outside: [
      [178, 1],
      [-178, 19],
      [0, 10],
    ],
  },
  {
    name: 'the same part twice beyond -180',
    shape: 'MULTIPOLYGON(((-200 0, -190 0, -190 10, -200 10, -200 0)), ((-200 0, -190 0, -190 10, -200 10, -200 0)))',
    inside: [[165, 5]],
    outside: [
      [175, 5],
      [-175, 5],
    ],
  },
]

describe('in an overview', () => {
  for (const { name, shape, inside, outside } of cases) {
    test(`${name} is where it was`, async () => {
      const places = [...inside, ...outside]
      const rows = await app.db.query<{ covered: boolean }>(sql`
        SELECT ST_Covers(ST_MakeValid(svc.simplified(svc.to_mercator(ST_GeomFromText(${shape}, 4326)), 1000)),
          ST_Transform(ST_SetSRID(ST_Point(x, y), 4326), 3857)) AS covered
        FROM unnest(${places.map(([x]) => x)}::float8[], ${places.map(([, y]) => y)}::float8[])
          WITH ORDINALITY AS p(x, y, place) ORDER BY place`)
      assert.deepEqual(
        rows.map(({ covered }) => covered),
        places.map((_, index) => index < inside.length),
      )
    })
  }
})
