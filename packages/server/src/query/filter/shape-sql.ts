// The values of geometry columns in PostGIS: in a reference system that is known, and with straight edges.
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Attribute } from '../values/attribute.ts'
import { wrapSql } from './wrap-sql.ts'

const wgs84 = 4326

/** Coordinates that can be degrees: some write longitudes from 0 to 360. */
const degrees = raw('ST_MakeEnvelope(-360, -90, 360, 90)')

/**
 * The value with the SRID of its system, for a column in which each value may have another one. Without one it is in the system that
 * the dataset states, otherwise in degrees; null where it cannot be.
 */
export function locatedSql({ srid, geography, isVarying, zeroSrid }: Attribute, value: Sql): Sql {
  if (geography) return sql`(${value})::geometry`
  if (!isVarying) return srid === 0 ? sql`ST_SetSRID(${value}, ${raw(String(wgs84))})` : sql`(${value})`
  const zero =
    zeroSrid === undefined
      ? sql`WHEN (${value}) @ ${degrees} OR ST_IsEmpty(${value}) THEN ST_SetSRID(${value}, ${raw(String(wgs84))})`
      : sql`ELSE ST_SetSRID(${value}, ${zeroSrid}::int4)`
  return sql`(CASE WHEN ST_SRID(${value}) <> 0 THEN ${value} ${zero} END)`
}

/** The column says that its values have one system, and a type that GeoJSON has, too. */
const isPlain = ({ ringless, isAreal, isMultiPoint, geography }: Attribute): boolean =>
  (ringless || isAreal || geography) === true && !isMultiPoint

/** The value as it is stored is of the system and of a type that GeoJSON has. */
export const isPlainIn = (attribute: Attribute, srid: number): boolean =>
  isPlain(attribute) && !attribute.isVarying && !attribute.geography && attribute.srid === srid

const plainTypes = raw(`'ST_Point', 'ST_LineString', 'ST_Polygon', 'ST_MultiLineString', 'ST_MultiPolygon'`)
const surfaces = raw(`'ST_Tin', 'ST_PolyhedralSurface', 'ST_Triangle'`)

/**
 * A shape of the types that GeoJSON, tiles and most formats have: arcs become lines of 32 pieces for a quarter, surfaces become
 * polygons. PostGIS fails on empty curves, writes a JSON that cannot be read of empty points in others, and knows few functions of surfaces.
 */
const straight = (shape: Sql): Sql => sql`CASE
  WHEN ${hasPlainType(shape)} THEN ${shape}
  WHEN ST_GeometryType(${shape}) = 'ST_MultiPoint' THEN ST_CollectionExtract(${shape}, 1)
  WHEN ST_IsEmpty(${shape}) THEN ST_SetSRID('GEOMETRYCOLLECTION EMPTY'::geometry, ST_SRID(${shape}))
  WHEN ST_GeometryType(${shape}) IN (${surfaces})
    OR ST_GeometryType(${shape}) = 'ST_GeometryCollection' AND ST_AsText(${shape}, 0) ~ '(TIN|TRIANGLE|POLYHEDRAL|EMPTY)'
  THEN (SELECT ST_Collect(CASE ST_GeometryType(part.geom) WHEN 'ST_Triangle' THEN ST_MakePolygon(ST_ExteriorRing(part.geom))
      ELSE ST_CurveToLine(part.geom) END) FROM ST_Dump(${shape}) AS part WHERE NOT ST_IsEmpty(part.geom))
  ELSE ST_CurveToLine(${shape}) END`

const shape = raw('shape')

/** Computes a value once, because what is made of it names it often. */
const computedOnce = (value: Sql, made: Sql): Sql =>
  sql`(SELECT ${made} FROM (SELECT ${value} AS shape OFFSET 0) AS one)`

/** The value with straight edges, in its own system. Most values are as they should be, and cost nothing more than that test. */
export function straightSql(attribute: Attribute, value: Sql): Sql {
  if (isPlain(attribute)) return value
  return sql`(CASE WHEN ${hasPlainType(value)} THEN ${value} ELSE ${computedOnce(value, straight(shape))} END)`
}

const hasPlainType = (value: Sql): Sql => sql`ST_GeometryType(${value}) IN (${plainTypes})`

/**
 * The value in a reference system, with straight edges. Null where it cannot be brought there: PostGIS would fail the whole query for one
 * such row. Arcs are straightened before, because they are none in another system, and longitudes beyond ±180 wrapped: a transformation
 * may move single positions of a shape to the other side of the earth.
 */
export function movedSql(attribute: Attribute, value: Sql, srid: number): Sql {
  if (isPlainIn(attribute, srid)) return sql`(${value})`
  const located = locatedSql(attribute, value)
  const target = raw(String(Math.trunc(srid)))
  if (!attribute.isVarying && (attribute.srid || wgs84) === srid) return straightSql(attribute, located)
  if (isPlain(attribute) && !attribute.isVarying) {
    return sql`(CASE WHEN ${isInDomain(attribute, located)} THEN ST_Transform(${wrapped(attribute, located)}, ${target}) END)`
  }
  const transformed = sql`WHEN ${isInDomain(attribute, shape)} THEN ST_Transform(${wrapped(attribute, straight(shape))}, ${target})`
  const moved = computedOnce(
    located,
    sql`CASE WHEN ST_SRID(shape) = ${target} THEN ${straight(shape)} ${transformed} END`,
  )
  return attribute.isVarying ? usuallyMoved(attribute, value, srid, moved) : moved
}

/** Values that have a system each are not: which of them go round the earth is not known. */
const wrapped = ({ period, isVarying }: Attribute, value: Sql): Sql =>
  period === undefined || isVarying ? value : wrapSql(value, period)

/** The system that most values have is known, so that its domain is looked up once and not for each row. */
function usuallyMoved(attribute: Attribute, value: Sql, srid: number, moved: Sql): Sql {
  const [own, target] = [attribute.srid ?? 0, srid].map((code) => raw(String(Math.trunc(code)))) as [Sql, Sql]
  const isThere = sql`WHEN ST_SRID(${value}) = ${target} AND ${hasPlainType(value)} THEN ${value}`
  if (!attribute.mixed || attribute.srid === srid) return sql`(CASE ${isThere} ELSE ${moved} END)`
  const usual = sql`ST_SRID(${value}) = ${own} AND ${hasPlainType(value)} AND ${isInDomain({ ...attribute, isVarying: false }, value)}`
  return sql`(CASE WHEN ${usual} THEN ST_Transform(${value}, ${target}) ${isThere} ELSE ${moved} END)`
}

/** Whether a located value is in the domain of its reference system, as far as its box tells; empty ones are. */
export function isInDomain({ srid, isVarying }: Attribute, value: Sql): Sql {
  const system = isVarying ? sql`ST_SRID(${value})` : raw(String(srid || wgs84))
  return sql`(${value} @ (${domainOf(system)}) OR ST_IsEmpty(${value}))`
}

/**
 * The box of valid coordinates for a kind of reference system. A subquery, which PostgreSQL evaluates once for all rows
 * of one SRID.
 */
function domainOf(srid: Sql): Sql {
  return sql`SELECT ST_SetSRID(CASE WHEN ${isKind('longlat')} THEN ST_MakeEnvelope(-541, -90, 541, 90)
      ELSE ST_Expand(ST_Point(${origin('x')}, ${origin('y')}), CASE WHEN ${isKind('utm|tmerc')} THEN 1.6e7
        WHEN ${isKind('laea')} THEN 9.01e6 WHEN ${isKind('merc|webmerc')} THEN 3e8 ELSE 2.1e7 END) END, s.srid)
    FROM spatial_ref_sys AS s WHERE s.srid = ${srid}`
}

const isKind = (names: string): Sql => raw(`s.proj4text ~ '\\+proj=(${names})\\M'`)
const origin = (axis: string): Sql => raw(`coalesce(substring(s.proj4text FROM '\\+${axis}_0=(-?[0-9.]+)')::float8, 0)`)
