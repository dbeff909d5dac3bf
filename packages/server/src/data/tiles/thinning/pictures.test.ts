import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { blurred, compare } from '../../../../testing/thinning/picture.ts'
import { openPicturePage, type PicturePage } from '../../../../testing/thinning/picture-page.ts'
import { makeRealWorld } from '../../../../testing/thinning/real-world.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'

// One database is enough: the embedded one makes the same tiles by the same SQL.

// Maps of thinned tiles look as maps of all rows do: Chromium draws both, and once they are blurred by as much as a cell of
// the rule is wide, little ink may be missing or in another place.

const everyZoom = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
/** Cells are 16 pixels wide, and squares of a picture 8. */
const cellInSquares = 2

let maps: TileApp
let page: PicturePage
let server: string
before(async () => {
  maps = await tileApp({ TILE_MAX_BYTES: '150000' })
  await maps.app.db.transaction(async (tx) => {
    await tx.script(`SET LOCAL search_path = ${maps.schema}, public`)
    await makeRealWorld(tx)
    // A town that is as dense as the middle is near: it looks alike at every zoom. So do the sizes of what is in it.
    await tx.script(`
      SELECT setseed(0.${process.env.TEST_SEED ?? '1'});
      CREATE TABLE spots AS SELECT i AS id, i % 10 AS n, r, least(8, 1 / (1 - c)) * r / 60 AS size, 8 + r * cos(2 * pi() * b) AS lon, 47 + 0.7 * r * sin(2 * pi() * b) AS lat
        FROM (SELECT i, 45 * 2 ^ (-14 * random()) AS r, random() AS b, random() AS c FROM generate_series(1, 15000) AS i OFFSET 0) AS drawn;
      CREATE TABLE points AS SELECT id, n, ST_Point(lon, lat, 4326)::geometry(Point, 4326) AS geom FROM spots;
      CREATE TABLE lines AS SELECT id, n, ST_MakeLine(ST_Point(lon, lat, 4326), ST_Point(lon + 3 * size, lat + size * (random() - 0.5), 4326))::geometry(LineString, 4326) AS geom FROM spots;
      CREATE TABLE areas AS SELECT id, n, ST_Expand(ST_Point(lon, lat, 4326), size / 2)::geometry(Polygon, 4326) AS geom FROM spots;
      ${['points', 'lines', 'areas'].map((table) => `ALTER TABLE ${table} ADD PRIMARY KEY (id); CREATE INDEX ON ${table} USING gist (geom); ANALYZE ${table};`).join('')}`)
  })
  await maps.app.http.listen({ port: 0, host: '127.0.0.1' })
  server = `http://127.0.0.1:${(maps.app.http.server.address() as AddressInfo).port}`
  page = await openPicturePage()
})
after(async () => {
  await page?.close()
  await maps.close()
})

const featuresOf = async (table: string): Promise<string> => {
  const [row] = await maps.app.db.query<{ text: string }>(sql`
    SELECT json_build_object('type', 'FeatureCollection', 'features', json_agg(json_build_object('type', 'Feature', 'properties', json_build_object('n', n), 'geometry', ST_AsGeoJSON(geom)::json)))::text AS text
    FROM ${raw(`${maps.schema}.${table}`)}`)
  return row?.text ?? ''
}

/** What lets through as much as so many rows above each other do. */
const inkOf = (opacity: number) => ['-', 1, ['^', 1 - opacity, ['coalesce', ['get', 'svc_count'], 1]]]

/** Parts of all the ink. Of shapes those that are shown are the larger ones, so they have more ink than what they stand for. */
const mostOfPoints = { missing: 0.13, added: 0.03, misplaced: 0.04 }
const mostOfShapes = { missing: 0.1, added: 0.4, misplaced: 0.14 }
/** Where nearly all shapes are smaller than half a pixel, but are drawn as wide. */
const mostFarOut = { missing: 0.75, added: 1.3, misplaced: 0.3 }

const kinds = {
  points: {
    layer: { type: 'circle', paint: { 'circle-radius': 2, 'circle-opacity': inkOf(0.03) } },
    mostAt: () => mostOfPoints,
  },
  lines: {
    layer: { type: 'line', paint: { 'line-width': 1.5, 'line-opacity': inkOf(0.1) } },
    mostAt: (zoom: number) => (zoom <= 1 ? mostFarOut : mostOfShapes),
  },
  areas: {
    layer: { type: 'fill', paint: { 'fill-antialias': false, 'fill-opacity': inkOf(0.05) } },
    mostAt: (zoom: number) => (zoom <= 1 ? mostFarOut : mostOfShapes),
  },
}

const town = { center: [8, 47], zooms: process.env.TEST_ALL ? everyZoom : [0, 5, 9, 12] } as const
const world = { center: [10, 45], zooms: [0, 2] } as const

for (const [kind, table, { center, zooms }] of [
  ['points', 'points', town],
  ['lines', 'lines', town],
  ['areas', 'areas', town],
  ['points', 'towns', world],
  ['lines', 'borders', world],
  ['areas', 'lands', world],
] as const) {
  test(`a map of ${table} looks at each zoom as one of all rows does`, async () => {
    const { layer, mostAt } = kinds[kind]
    const id = await maps.dataset({ source: table })
    const tiles = `${server}/tiles/${id}/{z}/{x}/{y}.mvt?api-key=${maps.tenant.developer}`
    await page.show({ tiles, rows: await featuresOf(table), layer })
    for (const zoom of zooms) {
      const seen = blurred(await page.look('tiles', { center, zoom }), cellInSquares)
      const whole = blurred(await page.look('rows', { center, zoom }), cellInSquares)
      const { missing, misplaced } = compare(seen, whole)
      const told = `zoom ${zoom}: ${missing.toFixed(3)} of the ink is missing, ${misplaced.toFixed(3)} in another place`
      const most = mostAt(zoom)
      assert.ok(missing <= most.missing && -missing <= most.added && misplaced <= most.misplaced, told)
    }
  })
}
