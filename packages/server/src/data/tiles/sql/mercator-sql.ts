// Web mercator in SQL.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { located } from '../../../query/execution/postgres-sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'

/** The coordinates of a point column in web mercator. Longitudes and latitudes are computed directly, without PROJ. */
export function mercatorPosition(geometry: Attribute): { x: Sql; y: Sql } {
  const value = located(geometry)
  if (isLonLat(geometry)) return mercatorOf(sql`ST_X(${value})`, sql`ST_Y(${value})`)
  const moved = geometry.srid === 3857 && !geometry.mixed ? value : toMercator(geometry)
  return { x: sql`ST_X(${moved})`, y: sql`ST_Y(${moved})` }
}

/** Longitude and latitude in web mercator. */
export const mercatorOf = (longitude: Sql, latitude: Sql): { x: Sql; y: Sql } => ({
  x: sql`${longitude} * 111319.49079327358`,
  y: sql`ln(tan(radians(45 + greatest(-85.0511287798066, least(85.0511287798066, ${latitude})) / 2))) * 6378137`,
})

/** Transforms a geometry, or returns null where that would fail: one bad row must not fail the whole tile. */
export const toMercator = (geometry: Attribute): Sql =>
  sql`CASE WHEN ${isInDomain(geometry)} THEN ST_Transform(${located(geometry)}, 3857) END`

/** Whether a row is in the domain of its reference system, as far as its box tells. */
export function isInDomain(geometry: Attribute): Sql {
  const value = located(geometry)
  const srid = geometry.mixed ? sql`ST_SRID(${value})` : raw(String(geometry.srid || 4326))
  return sql`${value} @ (${domainOf(srid)})`
}

/**
 * The box of valid coordinates for a kind of reference system. A subquery, which PostgreSQL evaluates once for all rows
 * of one SRID.
 */
function domainOf(srid: Sql): Sql {
  return sql`SELECT ST_SetSRID(CASE WHEN ${isKind('longlat')} THEN ST_MakeEnvelope(-541, -90, 541, 90)
      ELSE ST_Expand(ST_Point(${origin('x')}, ${origin('y')}), CASE WHEN ${isKind('utm|tmerc')} THEN 1.6e7
        WHEN ${isKind('laea')} THEN 9.01e6 ELSE 2.1e7 END) END, s.srid)
    FROM spatial_ref_sys AS s WHERE s.srid = ${srid}`
}

const isKind = (names: string): Sql => raw(`s.proj4text ~ '\\+proj=(${names})\\M'`)
const origin = (axis: string): Sql => raw(`coalesce(substring(s.proj4text FROM '\\+${axis}_0=(-?[0-9.]+)')::float8, 0)`)

export const isLonLat = (geometry: Attribute): boolean => !geometry.mixed && (geometry.srid || 4326) === 4326
