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
export const toMercator = (geometry: Attribute): Sql =>
  sql`CASE WHEN ${isInDomain(geometry)} THEN ST_Transform(${located(geometry)}, 3857) END`

/** Whether a row is where its system is defined, as far as can be told without transforming it. */
export function isInDomain(geometry: Attribute): Sql {
  const value = located(geometry)
  const srid = geometry.mixed ? sql`ST_SRID(${value})` : raw(String(geometry.srid || 4326))
  return sql`${value} @ (${domainOf(srid)})`
}

/** The box in which every coordinate of a system is a place, as far as the kind of system tells. Asked once for all rows. */
function domainOf(srid: Sql): Sql {
  return sql`SELECT ST_SetSRID(CASE WHEN ${isKind('longlat')} THEN ST_MakeEnvelope(-541, -90, 541, 90)
      ELSE ST_Expand(ST_Point(${origin('x')}, ${origin('y')}), CASE WHEN ${isKind('utm|tmerc')} THEN 1.6e7
        WHEN ${isKind('laea')} THEN 9.01e6 ELSE 2.1e7 END) END, s.srid)
    FROM spatial_ref_sys AS s WHERE s.srid = ${srid}`
}

const isKind = (names: string): Sql => raw(`s.proj4text ~ '\\+proj=(${names})\\M'`)
const origin = (axis: string): Sql => raw(`coalesce(substring(s.proj4text FROM '\\+${axis}_0=(-?[0-9.]+)')::float8, 0)`)

export const isLonLat = (geometry: Attribute): boolean => !geometry.mixed && (geometry.srid || 4326) === 4326
