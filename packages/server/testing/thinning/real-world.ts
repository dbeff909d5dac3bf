// The real world as tables: towns, the borders of countries in short pieces, and the land that is nearest to each town. Their density
// is that of people and of coasts, not of a formula.
import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Queryable } from '../../src/kernel/db/db.ts'
import { sql } from '../../src/kernel/db/sql.ts'

export const realTables = ['towns', 'borders', 'lands'] as const

const gazetteer = new URL('../../../assets/gazetteer.tsv.gz', import.meta.url)
const atlas = new URL('../../../../node_modules/world-atlas/countries-50m.json', import.meta.url)

/** Corners of a piece of a border. */
const corners = 3

/** Makes `realTables` with `id`, `n` from 0 to 9, and `geom`, in the schema that comes first in the search path. */
export async function makeRealWorld(db: Queryable): Promise<void> {
  const towns = await townsOfGazetteer()
  await db.query(sql`
    CREATE TABLE towns AS SELECT i::int4 AS id, (i % 10)::int4 AS n, ST_SetSRID(ST_Point(lon, lat), 4326)::geometry(Point, 4326) AS geom
    FROM unnest(${towns.map(([lon]) => lon)}::float8[], ${towns.map(([, lat]) => lat)}::float8[]) WITH ORDINALITY AS t (lon, lat, i)`)
  await db.query(sql`
    CREATE TABLE borders AS SELECT i::int4 AS id, (i % 10)::int4 AS n, ST_GeomFromText(line, 4326)::geometry(LineString, 4326) AS geom
    FROM unnest(${await piecesOfBorders()}::text[]) WITH ORDINALITY AS t (line, i)`)
  await db.query(sql`
    CREATE TABLE lands AS SELECT row_number() OVER ()::int4 AS id, (row_number() OVER () % 10)::int4 AS n, geom::geometry(Polygon, 4326) FROM (
      SELECT (ST_Dump(ST_Intersection(cell, ST_MakeEnvelope(-179.9, -60, 179.9, 80, 4326)))).geom FROM (
        SELECT (ST_Dump(ST_VoronoiPolygons(ST_Collect(geom)))).geom AS cell FROM towns) AS cells) AS parts
    WHERE ST_Dimension(geom) = 2`)
  await db.script(
    realTables
      .map(
        (table) =>
          `ALTER TABLE ${table} ADD PRIMARY KEY (id); CREATE INDEX ON ${table} USING gist (geom); ANALYZE ${table};`,
      )
      .join(''),
  )
}

async function townsOfGazetteer(): Promise<[lon: number, lat: number][]> {
  const lines = gunzipSync(await readFile(gazetteer))
    .toString()
    .trimEnd()
    .split('\n')
  return lines.map((line) => {
    const [, , , , lon, lat] = line.split('\t').map(Number)
    return [lon ?? 0, lat ?? 0]
  })
}

type Topology = {
  readonly arcs: readonly (readonly [dx: number, dy: number])[][]
  readonly transform: { readonly scale: [number, number]; readonly translate: [number, number] }
}

async function piecesOfBorders(): Promise<string[]> {
  const { arcs, transform }: Topology = JSON.parse(await readFile(atlas, 'utf8'))
  return arcs.flatMap((arc) => {
    const line = cornersOf(arc, transform)
    const starts = Array.from({ length: Math.floor((line.length - 1) / (corners - 1)) }, (_, at) => at * (corners - 1))
    return starts.flatMap((start) => {
      const piece = line.slice(start, start + corners)
      // Where the atlas is cut is no border, and tiles end before the pole.
      return piece.some(([lon, lat]) => Math.abs(lon) > 179.9 || lat < -85)
        ? []
        : `LINESTRING(${piece.map((at) => at.join(' ')).join(',')})`
    })
  })
}

/** Each corner of an arc is as far from the one before it. */
function cornersOf(
  arc: Topology['arcs'][number],
  { scale: [width, height], translate: [west, south] }: Topology['transform'],
): [lon: number, lat: number][] {
  let [x, y] = [0, 0]
  return arc.map(([dx, dy]) => {
    x += dx
    y += dy
    return [x * width + west, y * height + south]
  })
}
