import { raw, type Sql, sql } from '../db/sql.ts'
import type { Attribute } from '../query/attribute.ts'
import { located } from '../query/plan-sql.ts'

/** Where the points of a column are in metres of web mercator. Longitudes and latitudes need no library for that. */
export function mercatorPlace(geometry: Attribute): { x: Sql; y: Sql } {
  const value = located(geometry)
  if (isLonLat(geometry)) {
    const latitude = sql`greatest(-85.0511287798066, least(85.0511287798066, ST_Y(${value})))`
    return {
      x: sql`ST_X(${value}) * 111319.49079327358`,
      y: sql`ln(tan(radians(45 + ${latitude} / 2))) * 6378137`,
    }
  }
  const moved = geometry.srid === 3857 && !geometry.mixed ? value : toMercator(geometry)
  return { x: sql`ST_X(${moved})`, y: sql`ST_Y(${moved})` }
}

/** Transformed, or null where that would be an error: a bad row must not fail the whole tile. */
export function toMercator(geometry: Attribute): Sql {
  const value = located(geometry)
  const isDegrees = geometry.mixed ? sql`ST_SRID(${value}) = 4326` : raw('FALSE')
  const within = (axis: string, degrees: number): Sql => {
    const most = sql`CASE WHEN ${isDegrees} THEN ${raw(String(degrees))} ELSE 2e7 END`
    return sql`${raw(`ST_${axis}Min`)}(${value}) > -(${most}) AND ${raw(`ST_${axis}Max`)}(${value}) < ${most}`
  }
  const isKnown = geometry.mixed ? sql` AND ST_SRID(${value}) IN (SELECT srid FROM spatial_ref_sys)` : raw('')
  return sql`CASE WHEN ${within('X', 541)} AND ${within('Y', 90.1)}${isKnown} THEN ST_Transform(${value}, 3857) END`
}

export const isLonLat = (geometry: Attribute): boolean => !geometry.mixed && (geometry.srid || 4326) === 4326
