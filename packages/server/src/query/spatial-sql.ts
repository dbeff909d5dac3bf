import { joinSql, raw, type Sql, sql } from '../db/sql.ts'
import type { Attribute } from './attribute.ts'
import { boxesAround } from './bounding-box.ts'
import { type Extent, extentOf, type Geometry, positionsOf } from './geojson.ts'

const wgs84 = 4326
const webMercator = 3857

/**
 * What can be transformed into a projected system as a whole: further away from where the system is meant for,
 * PostGIS raises errors or folds the shape.
 */
const local = { degrees: 30, latitude: 89 }

/** An edge that is straight in degrees bends when it is projected; this many pieces follow it. */
const pieces = 256

/** PostGIS takes a spatial index for this by itself, because the function implies `&&`. */
export function intersectsSql(attribute: Attribute, column: Sql, geometry: Geometry): Sql {
  const { subject, operand } = sameSystem(attribute, column, geometry)
  return sql`ST_Intersects(${subject}, ${operand})`
}

/**
 * Both sides are mended first: ST_Within gives an error, not an answer, for a polygon that crosses itself, and one such
 * row would fail the whole query. `&&` is spelt out because the mended column has no index.
 */
export function withinSql(attribute: Attribute, column: Sql, geometry: Geometry): Sql {
  const { subject, operand } = sameSystem(attribute, column, geometry)
  const mended = sql`CASE WHEN ST_IsValid(${subject}) THEN ${subject} ELSE ST_MakeValid(${subject}) END`
  return sql`${subject} && ${operand} AND ST_Within(${mended}, ${hasArea(geometry) ? mendedArea(operand) : operand})`
}

/**
 * Distance along the ellipsoid, in metres. The boxes let an index on a geometry column skip what is far away; they are
 * wide enough for rows whose edges span up to five degrees, between which PostGIS follows great circles.
 */
export function dwithinSql(attribute: Attribute, column: Sql, geometry: Geometry, distanceMetres: number): Sql {
  const extent = extentOf(positionsOf(geometry))
  const operand = sql`${segmented(fromGeoJson(geometry), extent)}::geography`
  const distance = sql`ST_DWithin(${asGeography(attribute, column)}, ${operand}, ${float(distanceMetres)})`
  const near = attribute.geography ? undefined : overlapsBoxes(attribute, column, boxesAround(extent, distanceMetres))
  return near ? sql`(${near}) AND ${distance}` : distance
}

/**
 * The column and the operand in one reference system: the column's, so that its index can be used; or 4326, where the
 * operand is too large for that. Geography is compared as geometry: on the plane of degrees, like a 4326 column.
 */
function sameSystem(attribute: Attribute, column: Sql, geometry: Geometry): { subject: Sql; operand: Sql } {
  const operand = fromGeoJson(geometry)
  if (attribute.geography) return { subject: sql`(${column})::geometry`, operand }
  const srid = attribute.srid ?? wgs84
  const subject = sql`(${column})`
  const extent = extentOf(positionsOf(geometry))
  if (isLocal(srid, extent)) return { subject, operand: inSystem(srid, operand, extent) }
  return { subject: sql`ST_Transform(${column}, ${integer(wgs84)})`, operand }
}

function isLocal(srid: number, { west, south, east, north }: Extent): boolean {
  if (srid === wgs84 || srid === webMercator || srid === 0) return true
  const isSmall = east - west <= local.degrees && north - south <= local.degrees
  return isSmall && Math.max(-south, north) <= local.latitude
}

function inSystem(srid: number, operand: Sql, extent: Extent): Sql {
  if (srid === wgs84) return operand
  if (srid === 0) return sql`ST_SetSRID(${operand}, 0)`
  return sql`ST_Transform(${segmented(operand, extent)}, ${integer(srid)})`
}

function segmented(operand: Sql, { west, south, east, north }: Extent): Sql {
  const size = Math.max(east - west, north - south)
  return size === 0 ? operand : sql`ST_Segmentize(${operand}, ${float(size / pieces)})`
}

const hasArea = ({ type }: Geometry): boolean => type === 'Polygon' || type === 'MultiPolygon'

/** Part by part: mended as one, overlapping parts would cancel each other out. */
const mendedArea = (operand: Sql): Sql =>
  sql`(SELECT ST_Union(ST_MakeValid(part.geom)) FROM ST_Dump(${operand}) AS part)`

function asGeography({ srid = wgs84, geography }: Attribute, column: Sql): Sql {
  if (geography) return sql`(${column})`
  if (srid === wgs84) return sql`(${column})::geography`
  if (srid === 0) return sql`ST_SetSRID(${column}, ${integer(wgs84)})::geography`
  return sql`ST_Transform(${column}, ${integer(wgs84)})::geography`
}

/** Nothing where a box cannot be brought into the column's system: then every row is measured. */
function overlapsBoxes({ srid = wgs84 }: Attribute, column: Sql, boxes: readonly Extent[]): Sql | undefined {
  if (!boxes.every((box) => isLocal(srid, box))) return undefined
  const overlaps = boxes.map((box) => {
    const corners = joinSql([box.west, box.south, box.east, box.north].map(float), ', ')
    const envelope = sql`ST_MakeEnvelope(${corners}, ${integer(wgs84)})`
    return sql`(${column}) && ${inSystem(srid, envelope, box)}`
  })
  return joinSql(overlaps, ' OR ')
}

const fromGeoJson = (geometry: Geometry): Sql =>
  sql`ST_SetSRID(ST_GeomFromGeoJSON(${JSON.stringify(geometry)}::text), ${integer(wgs84)})`

const float = (value: number): Sql => sql`${String(value)}::float8`

const integer = (value: number): Sql => raw(String(Math.trunc(value)))
