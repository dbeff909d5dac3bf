import type { Db } from '../src/kernel/db/db.ts'
import { ident, joinSql, type Sql, sql } from '../src/kernel/db/sql.ts'
import { parseFilter } from '../src/query/filter/filter.ts'
import { filterSql } from '../src/query/filter/filter-sql.ts'
import type { Geometry, Position } from '../src/query/geometry/geojson.ts'
import type { Attribute, Attributes } from '../src/query/values/attribute.ts'

/** For the spatial tests only: the same places in degrees, in metres of the web's maps, in UTM zone 32, on a sphere. */
export const spatialColumns: readonly Attribute[] = [
  { name: 'degrees', type: 'geometry', srid: 4326 },
  { name: 'bare', type: 'geometry', srid: 0 },
  { name: 'mercator', type: 'geometry', srid: 3857 },
  { name: 'utm', type: 'geometry', srid: 25832 },
  { name: 'sphere', type: 'geometry', geography: true },
]
export const spatialAttributes: Attributes = new Map(spatialColumns.map((attribute) => [attribute.name, attribute]))

export const spatialFilterSql = (input: unknown): Sql =>
  filterSql(parseFilter(input, spatialAttributes), ({ name }) => ident(name))

export async function createPlaces(db: Db): Promise<void> {
  await db.query(sql`
    CREATE TABLE places (
      id int PRIMARY KEY, degrees geometry(Geometry, 4326), bare geometry, mercator geometry(Geometry, 3857),
      utm geometry(Geometry, 25832), sphere geography)`)
  for (const { name } of spatialColumns) await db.query(sql`CREATE INDEX ON places USING gist (${ident(name)})`)
}

/** Instead of what was there. UTM has only places in Europe. */
export async function storePlaces(db: Db, places: readonly (Geometry | null)[]): Promise<void> {
  await db.query(sql`TRUNCATE places`)
  await db.query(sql`
    INSERT INTO places
    SELECT n, g, ST_SetSRID(g, 0), ST_Transform(g, 3857),
      CASE WHEN g @ ST_MakeEnvelope(-20, 20, 40, 80, 4326) THEN ST_Transform(g, 25832) END, g::geography
    FROM (
      SELECT n, ST_SetSRID(ST_GeomFromGeoJSON(NULLIF(place, 'null')), 4326) AS g
      FROM unnest(${places.map((place) => JSON.stringify(place))}::text[]) WITH ORDINALITY AS t (place, n)
    ) AS read`)
}

/** For each filter, the answer for each place. */
export async function answersFor(db: Db, inputs: readonly unknown[]): Promise<string[][]> {
  const expressions = inputs.map(
    (input, index) =>
      sql`array_agg(coalesce(${spatialFilterSql(input)}::text, 'null') ORDER BY id) AS ${ident(`f${index}`)}`,
  )
  const [row] = await db.transaction(async (tx) => {
    // PostgreSQL thinks that so many costly functions are worth compiling, for seconds, also for thirty rows.
    await tx.query(sql`SET LOCAL jit = off`)
    return tx.query<Record<string, string[]>>(sql`SELECT ${joinSql(expressions, ', ')} FROM places`)
  })
  return inputs.map((_, index) => row?.[`f${index}`] ?? [])
}

export const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })

export const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })

export const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })

export const ring = (west: number, south: number, east: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
