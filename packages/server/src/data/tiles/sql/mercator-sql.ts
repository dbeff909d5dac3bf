// Web mercator in SQL.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { column, located } from '../../../query/execution/postgres-sql.ts'
import { movedSql } from '../../../query/filter/shape-sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'

/** The coordinates of a point column in web mercator. Longitudes and latitudes are computed directly, without PROJ. */
export function mercatorPosition(geometry: Attribute): { x: Sql; y: Sql } {
  const value = located(geometry)
  const placed = (x: Sql): Sql => (geometry.period === undefined ? x : withinWorld(x, geometry.period))
  if (isLonLat(geometry)) return mercatorOf(placed(sql`ST_X(${value})`), sql`ST_Y(${value})`)
  if (geometry.srid === 3857 && !geometry.mixed) return { x: placed(sql`ST_X(${value})`), y: sql`ST_Y(${value})` }
  const moved = toMercator(geometry)
  return { x: sql`ST_X(${moved})`, y: sql`ST_Y(${moved})` }
}

/** Points that are a turn of the earth apart are at the same place. */
export function withinWorld(x: Sql, period: number): Sql {
  const [turn, half] = [raw(String(period)), raw(String(period / 2))]
  return sql`(CASE WHEN abs(${x}) <= ${half} THEN ${x} ELSE ${x} - ${turn} * floor((${x} + ${half}) / ${turn}) END)`
}

/** Longitude and latitude in web mercator. */
export const mercatorOf = (longitude: Sql, latitude: Sql): { x: Sql; y: Sql } => ({
  x: sql`${longitude} * 111319.49079327358`,
  y: sql`ln(tan(radians(45 + greatest(-85.0511287798066, least(85.0511287798066, ${latitude})) / 2))) * 6378137`,
})

/** In web mercator with straight edges, or null where that would fail: one bad row must not fail the whole tile. */
export const toMercator = (geometry: Attribute): Sql => movedSql(geometry, column(geometry), 3857)

export const isLonLat = (geometry: Attribute): boolean => !geometry.mixed && (geometry.srid || 4326) === 4326
