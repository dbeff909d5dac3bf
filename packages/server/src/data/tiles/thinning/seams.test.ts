import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { borderTest, cellCounts, type SeamRow, tileOf } from '../../../../testing/thinning/seams.ts'
import { featuresOf, type TileApp, tileApp } from '../../../../testing/tiles.ts'
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

type Shown = {
  readonly id: number
  readonly count: number | undefined
  readonly west: number
  readonly east: number
  readonly north: number
  readonly south: number
}

async function shownIn(source: string, path: string, query: string): Promise<{ shown: Shown[]; counted: string }> {
  const reply = await maps.get(`/tiles/${source}/${path}.mvt?attributes=id${query}`)
  assert.ok(reply.statusCode < 300, reply.body)
  const shown = featuresOf(reply.rawPayload).map((feature) => {
    const [west = 0, north = 0, east = 0, south = 0] = feature.bbox?.() ?? []
    const { id, svc_count: count } = feature.properties
    return { id: Number(id), count: count === undefined ? undefined : Number(count), west, north, east, south }
  })
  return { shown, counted: String(reply.headers['x-tile-features']) }
}

/** The places of a table's rows: the centres of their boxes. */
async function placesOf(table: string, where: string): Promise<SeamRow[]> {
  return maps.app.db.query<SeamRow>(sql`
    SELECT id::int4 AS id, 0.5 + (ST_XMin(box) + ST_XMax(box)) / 2 / 40075016.685578488 AS x,
      0.5 - (ST_YMin(box) + ST_YMax(box)) / 2 / 40075016.685578488 AS y,
      greatest(ST_XMax(box) - ST_XMin(box), ST_YMax(box) - ST_YMin(box)) / 40075016.685578488 AS width
    FROM (SELECT id, Box2D(ST_Transform(geom, 3857)) AS box
      FROM ${raw(`${maps.schema}.${table}`)} WHERE ${raw(where)} OFFSET 0) AS boxes`)
}

async function overviewOf(id: string): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(300)) {
    await maps.get(`/tiles/${id}/0/0/0.mvt`)
    const [record] = await maps.app.db.query<{ state: string; error: string }>(sql`
      SELECT state, error FROM svc.overviews WHERE dataset_id = ${id}::uuid`)
    assert.notEqual(record?.state, 'failed', record?.error)
    if (record?.state === 'built') return sleep(1100)
  }
  throw new Error('The overview was not built')
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
      const places = await placesOf(table, where)
      let before: ReadonlySet<number> = new Set()
      let [thinnedZooms, compared] = [0, 0]
      for (const zoom of zooms) {
        const { all, isThinned, shownBy } = await readZoom({ id, zoom, query }, places)
        assert.deepEqual(
          [...before].filter((one) => !all.has(one)),
          [],
          `zoom ${zoom} lost rows`,
        )
        before = all
        if (!isThinned) {
          assert.equal(all.size, places.length, `zoom ${zoom} is thinned, but does not say so`)
          continue
        }
        thinnedZooms++
        agreeOnBorders(shownBy, zoom)
        const { probability, borders } = borderTest(places, all, zoom, cellCounts(places, zoom))
        compared += borders
        assert.ok(probability > 1e-4, `zoom ${zoom}: p = ${probability} over ${borders} borders`)
      }
      assert.ok(thinnedZooms >= 3, String(thinnedZooms))
      assert.ok(compared >= 10, `${compared} borders were compared`)
    })
  }
}

/** All tiles of a zoom in which there are rows. What they stand for has to be all rows. */
async function readZoom(
  { id, zoom, query }: { readonly id: string; readonly zoom: number; readonly query: string },
  places: readonly SeamRow[],
) {
  const tiles = Map.groupBy(places, (place) => tileOf(place, zoom))
  const shownBy = new Map<string, Shown[]>()
  let [sum, isThinned] = [0, false]
  for (const [tile, own] of tiles) {
    const { shown, counted } = await shownIn(id, `${zoom}/${tile}`, query)
    // Lines that are shorter than a pixel are not drawn, but counted.
    if (zoom === 0) assert.equal(counted.split('/')[1], String(places.length))
    shownBy.set(tile, shown)
    isThinned ||= shown.some(({ count }) => count !== undefined)
    sum += sumOf(shown, own)
  }
  if (zoom > 0) assert.equal(sum, places.length, `sum of svc_count at zoom ${zoom}`)
  return { all: new Set([...shownBy.values()].flat().map((one) => one.id)), isThinned, shownBy }
}

/** What a tile's own features stand for, without those of its buffer. */
function sumOf(shown: readonly Shown[], own: readonly SeamRow[]): number {
  const ids = new Set(own.map((place) => place.id))
  return shown.filter((one) => ids.has(one.id)).reduce((sum, { count = 1 }) => sum + count, 0)
}

/** What touches the common border of two tiles is in both. */
function agreeOnBorders(shownBy: ReadonlyMap<string, readonly Shown[]>, zoom: number): void {
  for (const [tile, shown] of shownBy) {
    const [x = 0, y = 0] = tile.split('/').map(Number)
    const [right, below] = [shownBy.get(`${x + 1}/${y}`), shownBy.get(`${x}/${y + 1}`)]
    const missing = (
      own: readonly Shown[],
      other: readonly Shown[] | undefined,
      touches: (one: Shown) => boolean,
    ): number[] => {
      const there = new Set(other?.map(({ id }) => id))
      return other
        ? own
            .filter(touches)
            .filter(({ id }) => !there.has(id))
            .map(({ id }) => id)
        : []
    }
    // One unit inside the buffer of 64, for rounding.
    const sides: [readonly number[], string][] = [
      [missing(shown, right, ({ west, east }) => west < 4096 + 62 && east > 4096 - 62), 'right of'],
      [missing(right ?? [], shown, ({ west, east }) => east > -62 && west < 62), 'left of the one right of'],
      [missing(shown, below, ({ north, south }) => north < 4096 + 62 && south > 4096 - 62), 'below'],
      [missing(below ?? [], shown, ({ north, south }) => south > -62 && north < 62), 'above the one below'],
    ]
    for (const [ids, side] of sides) assert.deepEqual(ids, [], `zoom ${zoom}: ${side} ${tile}`)
  }
}
