// Spatial predicates and distances in PostGIS.
import { joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { boxesAround, slicesAround } from '../geometry/bounding-box.ts'
import { type Box, extentOf, type Geometry, isBox, positionsOf } from '../geometry/geojson.ts'
import type { PlaneImage } from '../geometry/plane-image.ts'
import type { SpatialRelation } from '../geometry/relation/relation.ts'
import type { Attribute } from '../values/attribute.ts'
import { anyCopySql, placedSql } from './antimeridian-sql.ts'
import { isPlainIn, movedSql } from './shape-sql.ts'
import { wrapSql } from './wrap-sql.ts'

const wgs84 = 4326
const webMercator = 3857

/**
 * The largest operand that is transformed into a projected system as a whole. Further from the area a system is made
 * for, PostGIS raises errors or folds the shape.
 */
const local = { degrees: 30, latitude: 89 }

/**
 * An edge that is straight in degrees becomes a curve when projected; it is split into this many pieces, but not into
 * shorter ones than bend by a centimetre: each is measured against each edge of each row.
 */
const pieces = 256
const shortestPieceDegrees = 0.002

/** Between two points so close to each other the line on the plane of degrees and the great circle are 5 cm apart at most. */
const straightDegrees = 0.02

const mayBeBroken: ReadonlySet<Geometry['type']> = new Set(['Polygon', 'MultiPolygon', 'GeometryCollection'])

type Comparison = {
  /** What the index is on. */
  readonly indexed: Sql
  /** The value that is compared, if it is another one. */
  readonly subject: Sql
  readonly operand: Sql
  readonly srid: number
}

/** For a box, which is what maps ask for, PostGIS neither fails on invalid rows nor needs an extra index condition. */
export function intersectsSql(attribute: Attribute, column: Sql, geometry: Geometry): Sql {
  const compared = inOneSystem(attribute, column, geometry)
  const staysBox = isBox(geometry) && isCylindrical(compared.srid)
  if (!staysBox) return mendedSql('ST_Intersects', attribute, compared, geometry)
  const { indexed, subject, operand } = compared
  return anyCopySql(attribute, operand, (copy) => {
    const exact = sql`ST_Intersects(${subject}, ${copy})`
    return subject === indexed ? exact : sql`(${indexed} && ${copy} AND ${exact})`
  })
}

const functions: { readonly [relation in SpatialRelation]: string } = {
  intersects: 'ST_Intersects',
  within: 'ST_Within',
  contains: 'ST_Contains',
  equals: 'ST_Equals',
  touches: 'ST_Touches',
  crosses: 'ST_Crosses',
  overlaps: 'ST_Overlaps',
}

/** Relations that are false unless the boxes overlap, which all of them are. */
export function relationSql(relation: SpatialRelation, attribute: Attribute, column: Sql, geometry: Geometry): Sql {
  return mendedSql(functions[relation], attribute, inOneSystem(attribute, column, geometry), geometry)
}

/** The relation of two columns, in the reference system of the first one. */
export function columnsRelationSql(
  relation: SpatialRelation,
  left: { readonly attribute: Attribute; readonly column: Sql },
  right: { readonly attribute: Attribute; readonly column: Sql },
): Sql {
  const srid = left.attribute.geography ? wgs84 : left.attribute.srid || wgs84
  const [first, second] = [planar(left, srid), planar(right, srid)]
  return sql`${first} && ${second} AND ${raw(functions[relation])}(${soundRow(first)}, ${soundRow(second)})`
}

const planar = ({ attribute, column }: { attribute: Attribute; column: Sql }, srid: number): Sql =>
  placedSql(attribute, column, srid)

/**
 * Distance along the ellipsoid, in metres. The boxes let an index on a geometry column skip far rows. They are wide
 * enough for rows whose edges span up to five degrees, because PostGIS follows great circles between points.
 */
export function dwithinSql(attribute: Attribute, column: Sql, geometry: Geometry, distanceMetres: number): Sql {
  const extent = extentOf(positionsOf(geometry))
  const operand = onEarth(geometry, extent)
  const measured = sql`ST_DWithin(${asGeography(attribute, column)}, ${operand}, ${float(distanceMetres)})`
  // Its index serves this function and nothing around it.
  if (attribute.geography) return measured
  const boxes = boxesAround(extent, distanceMetres)
  const conditions = [
    overlapsBoxes(attribute, column, slicesOf(attribute, extent, distanceMetres) ?? boxes),
    nearOnPlaneSql(attribute, column, geometry, { extent, boxes }),
    measuredUnlessMet(attribute, column, geometry, { met: raw('true'), measured }),
  ]
  return joinSql(
    conditions.flatMap((condition) => (condition ? [sql`(${condition})`] : [])),
    ' AND ',
  )
}

/** Slices with their copies would be hundreds of boxes. */
const slicesOf = (attribute: Attribute, extent: Box, distanceMetres: number): readonly Box[] | undefined =>
  isInDegrees(attribute) && attribute.period === undefined ? slicesAround(extent, distanceMetres) : undefined

/** Distance in metres along the ellipsoid; null for a null or empty geometry. */
export function distanceSql(attribute: Attribute, column: Sql, geometry: Geometry): Sql {
  const operand = onEarth(geometry, extentOf(positionsOf(geometry)))
  const measured = sql`ST_Distance(${asGeography(attribute, column)}, ${operand})`
  return measuredUnlessMet(attribute, column, geometry, { met: raw('0::float8'), measured })
}

/**
 * A distance that only orders rows, roughly as `distanceSql` does, and that an index on the column serves. The plane of degrees ends at
 * the antimeridian and the poles; an image of the operand stands where it is seen from the other side.
 */
export function roughDistanceSql(
  attribute: Attribute,
  column: Sql,
  geometry: Geometry,
  image: PlaneImage = 'itself',
): Sql {
  const { srid = wgs84, geography, hasSystems, unlocated } = attribute
  const extent = extentOf(positionsOf(geometry))
  if (geography) return sql`(${column}) <-> ${onEarth(geometry, extent)}`
  const operand = imageSql(fromGeoJson(geometry), image)
  if (!isLocal(srid, extent) || hasSystems) return sql`${movedSql(attribute, column, wgs84)} <-> ${operand}`
  const there = inSystem(srid, operand, segmented(operand, extent))
  return sql`(${column}) <-> ${unlocated ? sql`ST_SetSRID(${there}, 0)` : there}`
}

/** Columns whose plane is that of degrees, on which operands have images. */
export const isInDegrees = ({ srid = wgs84, geography }: Attribute): boolean =>
  !geography && (srid === wgs84 || srid === 0)

function imageSql(operand: Sql, image: PlaneImage): Sql {
  if (image === 'itself') return operand
  if (image === 'east' || image === 'west')
    return sql`ST_Translate(${operand}, ${float(image === 'east' ? 360 : -360)}, 0)`
  const [, pole, side] = /^(north|south)(East|West)$/.exec(image) ?? []
  // Behind a pole latitudes go down again, on the opposite meridian.
  const [x, y] = [side === 'East' ? 180 : -180, pole === 'north' ? 180 : -180]
  return sql`ST_Affine(${operand}, 1, 0, 0, -1, ${float(x)}, ${float(y)})`
}

const isPoint = ({ type }: Geometry): boolean => type === 'Point'

/**
 * PostGIS measures each edge of a row against each edge of the operand: 1 ms for 16 by 100. Most rows of an area lie inside
 * it, which a test on the plane finds a hundred times faster. Long edges of rows bend too much for that.
 */
function measuredUnlessMet(
  attribute: Attribute,
  column: Sql,
  geometry: Geometry,
  { met, measured }: { met: Sql; measured: Sql },
): Sql {
  if (isPoint(geometry)) return measured
  const row = planar({ attribute, column }, wgs84)
  const isStraight = joinSql(
    ['X', 'Y'].map(
      (axis) => sql`${raw(`ST_${axis}Max`)}(${row}) - ${raw(`ST_${axis}Min`)}(${row}) < ${float(straightDegrees)}`,
    ),
    ' AND ',
  )
  return sql`CASE WHEN ${isStraight} AND ${intersectsSql(attribute, column, geometry)} THEN ${met} ELSE ${measured} END`
}

/**
 * The operand's box holds far more rows than are near a line or an edge, and the plane tells them apart cheaply. Undefined
 * where the plane ends, at the antimeridian and the poles.
 */
function nearOnPlaneSql(
  attribute: Attribute,
  column: Sql,
  geometry: Geometry,
  { extent, boxes }: { extent: Box; boxes: readonly Box[] },
): Sql | undefined {
  const [box] = boxes
  if (!box || isPoint(geometry)) return undefined
  if (box.west <= -180 || box.east >= 180 || box.south <= -90 || box.north >= 90) return undefined
  const degrees = Math.hypot(box.east - extent.east, Math.max(extent.south - box.south, box.north - extent.north))
  return sql`ST_DWithin(${planar({ attribute, column }, wgs84)}, ${fromGeoJson(geometry)}, ${float(degrees)})`
}

const onEarth = (geometry: Geometry, extent: Box): Sql => sql`${segmented(fromGeoJson(geometry), extent)}::geography`

/**
 * Makes both sides valid first: PostGIS raises an error for a self-intersecting polygon or overlapping parts, and one
 * such row would fail the whole query. `&&` is for the index, which the repaired column does not have.
 */
function mendedSql(
  relation: string,
  attribute: Attribute,
  { indexed, subject, operand }: Comparison,
  geometry: Geometry,
): Sql {
  const sound = mayBeBroken.has(geometry.type) ? mended(operand) : operand
  const placed = attribute.period === undefined ? subject : wrapSql(subject, attribute.period)
  const row = placed === indexed ? soundRow(placed) : soundOnce(placed)
  const mayMeet = anyCopySql(attribute, operand, (copy) => sql`${indexed} && ${copy}`)
  return sql`${mayMeet} AND ${raw(relation)}(${row}, ${sound})`
}

/** The subject takes time to compute, and is named several times. */
const soundOnce = (subject: Sql): Sql =>
  sql`(SELECT ${soundRow(raw('subject'))} FROM (SELECT ${subject} AS subject OFFSET 0) AS computed)`

function soundRow(subject: Sql): Sql {
  const isSound = sql`ST_IsValid(${subject}) AND GeometryType(${subject}) <> 'GEOMETRYCOLLECTION'`
  return sql`CASE WHEN ${isSound} THEN ${subject} ELSE ${mended(subject)} END`
}

/** Part by part: repaired as one, overlapping parts would cancel each other out. */
const mended = (geometry: Sql): Sql => sql`(SELECT ST_Union(ST_MakeValid(part.geom)) FROM ST_Dump(${geometry}) AS part)`

/**
 * Brings column and operand into one reference system: the column's, so that its index is used, or 4326 if the operand
 * is too large for that. Geography is compared as geometry, on the plane of degrees, like a 4326 column.
 */
function inOneSystem(attribute: Attribute, column: Sql, geometry: Geometry): Comparison {
  const operand = fromGeoJson(geometry)
  const inDegrees = (subject: Sql): Comparison => ({ indexed: subject, subject, operand, srid: wgs84 })
  if (attribute.geography) return inDegrees(sql`(${column})::geometry`)
  const srid = attribute.srid || wgs84
  const extent = extentOf(positionsOf(geometry))
  if (!isLocal(srid, extent) || attribute.hasSystems) return inDegrees(movedSql(attribute, column, wgs84))
  const bending = isBox(geometry) && isCylindrical(srid) ? operand : segmented(operand, extent)
  const indexed = sql`(${column})`
  const subject = isPlainIn(attribute, srid) ? indexed : movedSql(attribute, column, srid)
  return { indexed, subject, operand: inSystem(srid, operand, bending), srid }
}

/** Systems in which meridians and parallels are straight and at right angles. */
const isCylindrical = (srid: number): boolean => srid === wgs84 || srid === webMercator || srid === 0

function isLocal(srid: number, { west, south, east, north }: Box): boolean {
  if (isCylindrical(srid)) return true
  const isSmall = east - west <= local.degrees && north - south <= local.degrees
  return isSmall && Math.max(-south, north) <= local.latitude
}

function inSystem(srid: number, operand: Sql, bending: Sql): Sql {
  if (srid === wgs84) return operand
  return srid === 0 ? sql`ST_SetSRID(${operand}, 0)` : sql`ST_Transform(${bending}, ${integer(srid)})`
}

function segmented(operand: Sql, { west, south, east, north }: Box): Sql {
  const size = Math.max(east - west, north - south)
  if (size <= shortestPieceDegrees) return operand
  return sql`ST_Segmentize(${operand}, ${float(Math.max(size / pieces, shortestPieceDegrees))})`
}

const asGeography = (attribute: Attribute, column: Sql): Sql =>
  attribute.geography ? sql`(${column})` : sql`${placedSql(attribute, column, wgs84)}::geography`

/** Undefined if a box cannot be transformed to the column's system: then every row is measured. */
function overlapsBoxes(attribute: Attribute, column: Sql, boxes: readonly Box[]): Sql | undefined {
  const { srid = wgs84, hasSystems } = attribute
  if (hasSystems || !boxes.every((box) => isLocal(srid, box))) return undefined
  const overlaps = boxes.map((box) => {
    const corners = joinSql([box.west, box.south, box.east, box.north].map(float), ', ')
    const envelope = sql`ST_MakeEnvelope(${corners}, ${integer(wgs84)})`
    const area = inSystem(srid, envelope, segmented(envelope, box))
    return anyCopySql(attribute, area, (copy) => sql`(${column}) && ${copy}`)
  })
  return joinSql(overlaps, ' OR ')
}

const fromGeoJson = (geometry: Geometry): Sql =>
  sql`ST_SetSRID(ST_GeomFromGeoJSON(${JSON.stringify(geometry)}::text), ${integer(wgs84)})`

const float = (value: number): Sql => sql`${String(value)}::float8`

const integer = (value: number): Sql => raw(String(Math.trunc(value)))
