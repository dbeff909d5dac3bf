import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { later } from '../../../../testing/processes/clock.ts'
import { centresOf, seeNoSeams } from '../../../../testing/thinning/zoom-tiles.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'

// Neighbouring tiles of a thinned zoom must look as if they were one picture. What chance allows is stated in testing/thinning/seams.ts;
// every figure here follows from it, none from what was seen.

let maps: TileApp
before(async () => {
  // Small budgets, so that few rows are many.
  maps = await tileApp({ OVERVIEW_MIN_ROWS: '5000', TILE_MAX_BYTES: '60000' })
  await maps.script(`
    SELECT setseed(0.${process.env.TEST_SEED ?? '1'});
    CREATE TABLE spots AS
      SELECT i AS id, i % 10 AS n, (ARRAY[8.0, 9.0, 6.1, -75.0])[k] + (ARRAY[2.0, 0.5, 0.2, 8.0])[k] * sqrt(-2 * ln(1 - a)) * cos(2 * pi() * b) AS lon,
        (ARRAY[47.0, 45.0, 46.2, -10.0])[k] + (ARRAY[2.0, 0.5, 0.2, 8.0])[k] * sqrt(-2 * ln(1 - a)) * sin(2 * pi() * b) AS lat
      FROM (SELECT i, 1 + i % 4 AS k, random() AS a, random() AS b FROM generate_series(1, 24000) AS i OFFSET 0) AS drawn;
    CREATE TABLE points AS SELECT id, n, ST_Point(lon, lat, 4326)::geometry(Point, 4326) AS geom FROM spots;
    CREATE TABLE lines AS SELECT id, n, ST_MakeLine(ST_Point(lon, lat, 4326),
        ST_Point(lon + 0.06 * least(10, 1 / (1 - random())), lat + (random() - 0.5) * 0.05, 4326))::geometry(LineString, 4326) AS geom FROM spots;
    CREATE TABLE areas AS SELECT id, n, ST_Expand(ST_Point(lon, lat, 4326), 0.002 * least(200, 1 / (1 - random())))::geometry(Polygon, 4326) AS geom FROM spots;
    ALTER TABLE points ADD PRIMARY KEY (id); ALTER TABLE lines ADD PRIMARY KEY (id); ALTER TABLE areas ADD PRIMARY KEY (id);
    CREATE INDEX ON points USING gist (geom); CREATE INDEX ON lines USING gist (geom); CREATE INDEX ON areas USING gist (geom);
    ANALYZE points, lines, areas`)
})
after(() => maps.close())

async function overviewOf(id: string): Promise<void> {
  await until(async () => {
    await maps.get(`/tiles/${id}/0/0/0.mvt`)
    const [record] = await maps.app.db.query<{ state: string; error: string }>(sql`
      SELECT state, error FROM svc.overviews WHERE dataset_id = ${id}::uuid`)
    assert.notEqual(record?.state, 'failed', record?.error)
    return record?.state === 'built'
  })
  // Tile sources are believed for a second.
  later(1_000)
}

const ways = [
  { way: 'an overview', query: '', where: 'true', source: overviewed },
  { way: 'the table', query: '', where: 'true', source: plain },
  { way: 'a filter', query: '&filter[n][$lt]=7', where: 'n < 7', source: plain },
]

async function overviewed(table: string): Promise<string> {
  const id = await maps.dataset({ source: table })
  await overviewOf(id)
  return id
}

async function plain(table: string): Promise<string> {
  const dataset = await maps.dataset({ source: table })
  return maps.tileSource({ source: dataset, metadata: { tiles: { overviews: false } } })
}

const everyZoom = [0, 1, 2, 3, 4, 5, 6, 7, 8]
// The embedded database makes the same tiles by the same SQL, more slowly.
const isEmbedded = process.env.TEST_DATABASE_URL === undefined
const zooms = process.env.TEST_ALL && !isEmbedded ? everyZoom : [0, 3, 5, 6, 7]

for (const table of ['points', 'lines', 'areas']) {
  for (const { way, query, where, source } of ways) {
    test(`tiles of ${table} made from ${way} show no seams, lose no row while zooming in, and stand for all rows`, async () => {
      const id = await source(table)
      const places = await centresOf(maps.app.db, raw(`${maps.schema}.${table}`), raw(where))
      const { thinnedZooms, compared } = await seeNoSeams(maps.get, { id, query, zooms }, places)
      assert.ok(thinnedZooms >= 3, String(thinnedZooms))
      assert.ok(compared >= 10, `${compared} borders were compared`)
    })
  }
}
