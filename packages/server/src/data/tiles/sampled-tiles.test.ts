import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { featuresOf, type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'

// One database is enough: the SQL of samples is the same on both.

let maps: TileApp
before(async () => {
  maps = await tileApp({ OVERVIEW_MIN_ROWS: '1000000', TILE_MAX_BYTES: '64000' })
  // Stored by place, so that pages are places; ten points with the highest keys lie alone.
  await maps.script(`
    CREATE TABLE crowd (id int8 PRIMARY KEY, n int4, geom geometry(Point, 4326));
    INSERT INTO crowd SELECT i, i % 100, ST_Point(i / 2000 + (i * 7919 % 1000) / 1000.0, 40 + (i * 104729 % 1000) / 100.0, 4326)
      FROM generate_series(1, 60000::int8) AS i;
    INSERT INTO crowd SELECT 100000 + i, 0, ST_Point(-120 + i / 1000.0, -30, 4326) FROM generate_series(1, 10) AS i;
    CREATE INDEX ON crowd USING gist (geom);
    CREATE TABLE metres AS SELECT id, n, ST_Transform(geom, 3857)::geometry(Point, 3857) AS geom FROM crowd;
    ALTER TABLE metres ADD PRIMARY KEY (id);
    CREATE INDEX ON metres USING gist (geom);
    CREATE VIEW seen AS SELECT * FROM crowd;
    CREATE TABLE unindexed AS TABLE crowd;
    CREATE TABLE unknown (LIKE crowd INCLUDING ALL);
    ALTER TABLE unknown SET (autovacuum_enabled = off);
    INSERT INTO unknown TABLE crowd;
    CREATE TABLE areas (id int8 PRIMARY KEY, geom geometry(Polygon, 4326));
    INSERT INTO areas SELECT i, ST_Expand(ST_Point(i % 170, i % 70, 4326), 0.3) FROM generate_series(1, 12000) AS i;
    INSERT INTO areas SELECT 100000 + i, ST_Expand(ST_Point(-20 * i, -20, 4326), 9) FROM generate_series(1, 5) AS i;
    CREATE INDEX ON areas USING gist (geom);
    ANALYZE crowd, metres, areas`)
})
after(() => maps.close())

const tile = async (id: string, path: string) => {
  const reply = await maps.get(`/tiles/${id}/${path}`)
  assert.equal(reply.statusCode, 200, reply.body)
  return { reply, counted: String(reply.headers['x-tile-features']), ids: valuesOf(reply).map(Number) }
}

const isAlone = (id: number): boolean => id > 100_000

for (const table of ['crowd', 'metres']) {
  test(`a crowded tile of ${table} shows a sample from everywhere, also of points that lie alone, and the same twice`, async () => {
    const [first, second] = [await maps.dataset({ source: table }), await maps.dataset({ source: table })]
    const { counted, ids } = await tile(first, '0/0/0.mvt')
    const [, shown = 0, total = 0] = /^(\d+)\/~(\d+)$/.exec(counted)?.map(Number) ?? []
    assert.ok(shown > 700 && shown <= 2500, counted)
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.some(isAlone))
    // Fourteen rows of a page are shown together, so of 60 000 the estimate of 700 rows is off by 14 % or less, mostly.
    assert.ok(Math.abs(total - 60_010) < 4 * 0.14 * 60_010, counted)
    // Each thirtieth of the table is a column of its own.
    const columns = new Set(ids.filter((id) => !isAlone(id)).map((id) => Math.floor(id / 2000)))
    assert.ok(columns.size >= 25, String(columns.size))
    assert.deepEqual((await tile(second, '0/0/0.mvt')).ids, ids)
    // A tile with few rows is thinned as its neighbours are, and counts what it hides.
    assert.match((await tile(first, '1/0/1.mvt')).counted, /^\d+\/10$/)
  })
}

test('tiles beside each other show the same points on their common border', async () => {
  const id = await maps.dataset({ source: 'crowd' })
  const [west, east] = [await tile(id, '5/16/11.mvt?attributes=id'), await tile(id, '5/17/11.mvt?attributes=id')]
  const shared = ({ reply }: typeof west, x: number): number[] =>
    featuresOf(reply.rawPayload)
      .filter((feature) => Math.abs((feature.loadGeometry()[0]?.[0]?.x ?? 0) - x) < 60)
      .map(({ properties }) => Number(properties.id))
      .sort((a, b) => a - b)
  assert.ok(shared(west, 4096).length > 0)
  assert.deepEqual(shared(west, 4096), shared(east, 0))
})

test('a filter is kept to in a sample, and where it leaves few rows they are all shown', async () => {
  const id = await maps.dataset({ source: 'crowd' })
  const many = await tile(id, '0/0/0.mvt?filter[n][$lt]=60')
  assert.match(many.counted, /^\d+\/~\d+$/)
  assert.ok(featuresOf(many.reply.rawPayload).every(({ properties }) => Number(properties.n) < 60))
  assert.equal((await tile(id, '0/0/0.mvt?filter[n]=7')).counted, '600/600')
})

test('rows are read as they are where no statistics, no index or no table would make a sample right', async () => {
  for (const source of ['seen', 'unindexed', 'unknown']) {
    const { ids } = await tile(await maps.dataset({ source }), '0/0/0.mvt?attributes=id')
    // The first rows without a gap, as ever.
    assert.equal(Math.max(...ids), ids.length, source)
  }
})

test('a crowded tile of areas shows the largest', async () => {
  const { counted, ids } = await tile(await maps.dataset({ source: 'areas' }), '0/0/0.mvt')
  assert.match(counted, /^\d+\/12005$/)
  assert.equal(ids.filter(isAlone).length, 5)
  assert.deepEqual(ids.slice(0, 5).every(isAlone), true)
})
