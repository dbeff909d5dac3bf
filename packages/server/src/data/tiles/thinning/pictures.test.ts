import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { blurred, compare } from '../../../../testing/thinning/picture.ts'
import { openPicturePage, type PicturePage } from '../../../../testing/thinning/picture-page.ts'
import { makeRealWorld } from '../../../../testing/thinning/real-world.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'

// One database is enough: the embedded one makes the same tiles by the same SQL.

// It takes minutes: every zoom is drawn twice.

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

/** Shapes that are too small to be seen are drawn half a pixel wide in tiles of thinned zooms; so they are here. */
function seenAt(zoom: number, shape: string): string {
  const side = 360 / 2 ** zoom / 1024
  const middle = 'ST_Centroid(ST_Envelope(geom))'
  const stretch = `cos(radians(ST_Y(${middle})))`
  const isSmall = `ST_XMax(geom) - ST_XMin(geom) < ${side} AND ST_YMax(geom) - ST_YMin(geom) < ${side} * ${stretch}`
  const line = `ST_MakeLine(ST_Translate(${middle}, ${-side / 2}, 0), ST_Translate(${middle}, ${side / 2}, 0))`
  const area = `ST_Expand(${middle}, ${side / 2}, ${side / 2} * ${stretch})`
  return shape === 'points' ? 'geom' : `CASE WHEN ${isSmall} THEN ${shape === 'lines' ? line : area} ELSE geom END`
}

const featuresOf = async (table: string, seen: string): Promise<string> => {
  const [row] = await maps.app.db.query<{ text: string }>(sql`
    SELECT json_build_object('type', 'FeatureCollection', 'features', json_agg(json_build_object('type', 'Feature', 'properties', json_build_object('n', n), 'geometry', ST_AsGeoJSON(${raw(seen)})::json)))::text AS text
    FROM ${raw(`${maps.schema}.${table}`)}`)
  return row?.text ?? ''
}

/** What lets through as much as so many rows above each other do. */
const inkOf = (opacity: number) => ['-', 1, ['^', 1 - opacity, ['coalesce', ['get', 'svc_count'], 1]]]

/** Of one row. */
const opacity = 0.03

/** What is lost because rows above each other, which lie beside each other in the data, cannot be darker than dark: if all stood for as many. */
async function saturated(id: string, place: string): Promise<number> {
  const { headers } = await maps.get(`/tiles/${id}/${place}.mvt`)
  const [shown = 1, rows = 1] = String(headers['x-tile-features']).replace('~', '').split('/').map(Number)
  const each = rows / shown
  return 1 - (1 - (1 - opacity) ** each) / (each * opacity)
}

/**
 * Parts of all the ink. Lines of a class differ by a factor of two and areas by one of four, so where few of them make a picture, it has
 * a tenth more or less ink than that of those they stand for; points are all alike, and lie on each other.
 */
const mostOf = {
  points: { missing: 0.13, added: 0.03, misplaced: 0.04 },
  lines: { missing: 0.1, added: 0.1, misplaced: 0.1 },
  areas: { missing: 0.15, added: 0.15, misplaced: 0.1 },
}

const layers = {
  points: { type: 'circle', paint: { 'circle-radius': 2, 'circle-opacity': inkOf(opacity) } },
  lines: { type: 'line', paint: { 'line-width': 1.5, 'line-opacity': inkOf(opacity) } },
  areas: { type: 'fill', paint: { 'fill-antialias': false, 'fill-opacity': inkOf(opacity) } },
}

/** The tile in which a place is, in degrees. */
function tileAt([lon, lat]: readonly [number, number], zoom: number): string {
  const sine = Math.sin((lat * Math.PI) / 180)
  const [x, y] = [lon / 360 + 0.5, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)]
  return [zoom, Math.floor(x * 2 ** zoom), Math.floor(y * 2 ** zoom)].join('/')
}

const town = { center: [8, 47], zooms: process.env.TEST_ALL ? everyZoom : [0, 5, 9, 12] } as const
const world = { center: [10, 45], zooms: [0, 1, 2] } as const

for (const [kind, table, { center, zooms }] of [
  ['points', 'points', town],
  ['lines', 'lines', town],
  ['areas', 'areas', town],
  ['points', 'towns', world],
  ['lines', 'borders', world],
  ['areas', 'lands', world],
] as const) {
  test(`a map of ${table} looks at each zoom as one of all rows does`, async () => {
    const id = await maps.dataset({ source: table })
    const tiles = `${server}/tiles/${id}/{z}/{x}/{y}.mvt?api-key=${maps.tenant.developer}`
    const most = mostOf[kind]
    for (const zoom of zooms) {
      await page.show({ tiles, rows: await featuresOf(table, seenAt(zoom, kind)), layer: layers[kind] })
      const seen = blurred(await page.look('tiles', { center, zoom }), cellInSquares)
      const whole = blurred(await page.look('rows', { center, zoom }), cellInSquares)
      const { missing, misplaced } = compare(seen, whole)
      const lost = kind === 'points' ? 0 : await saturated(id, tileAt(center, zoom))
      const told = `zoom ${zoom}: ${missing.toFixed(3)} of the ink is missing (${lost.toFixed(3)} may), ${misplaced.toFixed(3)} in another place`
      assert.ok(missing <= most.missing + lost && -missing <= most.added && misplaced <= most.misplaced, told)
    }
  })
}
