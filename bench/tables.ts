import { execFileSync } from 'node:child_process'

/** What the tile and feature parts serve: points around towns of a continent, and areas of all sizes between them. */

export const psql = (url: string, text: string): string =>
  execFileSync('psql', [url, '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8', maxBuffer: 1 << 26 })

/** A town in the middle of what the tables cover. */
const [longitude, latitude] = [9, 47]

/** The same rows each time. */
export function makePoints(url: string, table: string, count: number): void {
  psql(
    url,
    `SELECT setseed(0.5);
     CREATE TEMP TABLE towns AS SELECT g AS id, -10 + 45 * random() AS x, 36 + 24 * random() AS y FROM generate_series(1, 400) g;
     UPDATE towns SET x = ${longitude}, y = ${latitude} WHERE id = 1;
     CREATE TABLE ${table} AS
       SELECT g::int8 AS id, 'place ' || g AS name, (random() * 1000)::int AS pop, (ARRAY['a', 'b', 'c', 'd'])[1 + g % 4] AS kind,
         ST_Point(t.x + (random() + random() - 1) * 1.5, t.y + (random() + random() - 1), 4326)::geometry(Point, 4326) AS geom
       FROM generate_series(1, ${count}) g JOIN towns t ON t.id = 1 + g % 400;`,
  )
  finish(url, table)
}

export function makeAreas(url: string, table: string, count: number): void {
  psql(
    url,
    `SELECT setseed(0.5);
     CREATE TABLE ${table} AS
       SELECT g::int8 AS id, 'area ' || g AS name, (random() * 100)::float8 AS value,
         ST_Buffer(ST_Point(-10 + 45 * random(), 36 + 24 * random(), 4326), 0.002 + 0.03 * power(random(), 6), 8)::geometry(Polygon, 4326) AS geom
       FROM generate_series(1, ${count}) g;`,
  )
  finish(url, table)
}

function finish(url: string, table: string): void {
  psql(url, `ALTER TABLE ${table} ADD PRIMARY KEY (id); CREATE INDEX ON ${table} USING gist (geom);`)
  const [schema = ''] = table.split('.')
  if (schema.startsWith('app_')) psql(url, `GRANT SELECT ON ${table} TO ${schema}`)
  psql(url, `VACUUM ANALYZE ${table}`)
}

type Window = { z: number; x: number; y: number; width: number; height: number }

/** What a user sees who zooms in and looks around: a window of tiles at each zoom, around the same place. */
export function tilesAround(zooms: readonly number[], most: { width: number; height: number }): string[] {
  const sine = Math.sin((latitude * Math.PI) / 180)
  const fromNorth = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return zooms.flatMap((z) => {
    const size = 2 ** z
    const [width, height] = [Math.min(size, most.width), Math.min(size, most.height)]
    const x = Math.max(0, Math.min(size - width, Math.floor(((longitude + 180) / 360) * size - width / 2)))
    const y = Math.max(0, Math.min(size - height, Math.floor(fromNorth * size - height / 2)))
    return tilesOf({ z, x, y, width, height })
  })
}

const tilesOf = ({ z, x, y, width, height }: Window): string[] =>
  Array.from({ length: width * height }, (_, index) => `${z}/${x + (index % width)}/${y + Math.floor(index / width)}`)

/** In an order in which neighbours do not follow each other; the same each time. */
export const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((one, index) => ({ one, order: (index * 7919) % list.length }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one)
