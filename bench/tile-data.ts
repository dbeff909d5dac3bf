import { execFileSync } from 'node:child_process'

/** What the tile benchmarks draw: points around towns of a continent, and areas of all sizes between them. */

export const pointCount = 1_000_000
export const polygonCount = 200_000

export const psql = (url: string, text: string): string =>
  execFileSync('psql', [url, '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8', maxBuffer: 1 << 26 })

export function makeTables(url: string, schema: string): void {
  psql(
    url,
    `SELECT setseed(0.5);
     CREATE TABLE ${schema}.towns AS SELECT g AS id, -10 + 45 * random() AS x, 36 + 24 * random() AS y FROM generate_series(1, 400) g;
     CREATE TABLE ${schema}.points AS
       SELECT g::int8 AS id, 'place ' || g AS name, (random() * 1000)::int AS pop, (ARRAY['a', 'b', 'c', 'd'])[1 + g % 4] AS kind,
         ST_Point(t.x + (random() + random() - 1) * 1.5, t.y + (random() + random() - 1), 4326)::geometry(Point, 4326) AS geom
       FROM generate_series(1, ${pointCount}) g JOIN ${schema}.towns t ON t.id = 1 + g % 400;
     ALTER TABLE ${schema}.points ADD PRIMARY KEY (id);
     CREATE INDEX ON ${schema}.points USING gist (geom);
     CREATE TABLE ${schema}.areas AS
       SELECT g::int8 AS id, 'area ' || g AS name, (random() * 100)::float8 AS value,
         ST_Buffer(ST_Point(-10 + 45 * random(), 36 + 24 * random(), 4326), 0.002 + 0.03 * power(random(), 6), 8)::geometry(Polygon, 4326) AS geom
       FROM generate_series(1, ${polygonCount}) g;
     ALTER TABLE ${schema}.areas ADD PRIMARY KEY (id);
     CREATE INDEX ON ${schema}.areas USING gist (geom);
     GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`,
  )
  psql(url, 'VACUUM ANALYZE')
}

export type Window = { z: number; x: number; y: number; width: number; height: number }

/** What a user sees who zooms in and looks around: a window of tiles at each zoom, around the same place. */
export function windowsAt(longitude: number, latitude: number, zooms: readonly number[]): Window[] {
  const sine = Math.sin((latitude * Math.PI) / 180)
  const fromNorth = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return zooms.map((z) => {
    const size = 2 ** z
    const [width, height] = [Math.min(size, 12), Math.min(size, 6)]
    const x = Math.max(0, Math.min(size - width, Math.floor(((longitude + 180) / 360) * size - width / 2)))
    const y = Math.max(0, Math.min(size - height, Math.floor(fromNorth * size - height / 2)))
    return { z, x, y, width, height }
  })
}

export const tilesOf = ({ z, x, y, width, height }: Window): string[] =>
  Array.from({ length: width * height }, (_, index) => `${z}/${x + (index % width)}/${y + Math.floor(index / width)}`)

/** The statement that tile servers on PostGIS use. */
export const tileStatement = (table: string, columns: string, z: string, x: string, y: string): string =>
  `SELECT ST_AsMVT(tile, 'geometry', 4096, 'geom', 'id') FROM (
     SELECT ST_AsMVTGeom(ST_Transform(geom, 3857), ST_TileEnvelope(${z}, ${x}, ${y}), 4096, 64, true) AS geom, ${columns}
     FROM ${table} WHERE geom && ST_Transform(ST_TileEnvelope(${z}, ${x}, ${y}, margin => 64.0 / 4096), 4326)) AS tile
   WHERE geom IS NOT NULL`
