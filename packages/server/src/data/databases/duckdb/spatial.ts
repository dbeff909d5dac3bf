// Boxes of spatial filters: `&&`, and before it the columns that GeoParquet keeps boxes in, which let whole row groups be skipped.
import proj4 from 'proj4'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PushedTest, Test } from '../../../query/execution/push-down.ts'
import { definitionOf } from '../../../query/execution/wkb-cells.ts'
import { copiesOf } from '../../../query/geometry/antimeridian.ts'
import { narrowBoxesAround } from '../../../query/geometry/bounding-box.ts'
import { type Box, extentOf, isBox, positionsOf } from '../../../query/geometry/geojson.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { DuckdbColumn } from './package.ts'

type GeometryFact = NonNullable<DuckdbColumn['geometry']>
type Covering = GeometryFact['covering']
/** By the name of the geometry. */
export type GeometryFacts = ReadonlyMap<string, GeometryFact>

export type SpatialTest = Extract<Test, { geometry: unknown }>

/** Exact only where a box meets points in degrees; nothing where a box cannot be brought into the column's system. */
export function pushSpatial(
  test: SpatialTest,
  column: Sql,
  definitions: Definitions,
  fact: GeometryFact | undefined,
): PushedTest | undefined {
  const conditions = boxConditions(test, column, definitions, fact)
  if (conditions.length === 0) return undefined
  const isExact =
    test.kind === 'intersects' && isBox(test.geometry) && Boolean(test.attribute.isPoint) && isDegrees(test.attribute)
  return { condition: joinSql(conditions, ' OR '), isExact }
}

/**
 * One of them is true for each row that the test keeps: two where its boxes are on both sides of the date line, and more where the file does
 * not say that its longitudes end at ±180.
 */
export function boxConditions(
  test: SpatialTest,
  column: Sql,
  definitions: Definitions,
  fact: GeometryFact | undefined,
): readonly Sql[] {
  const extent = extentOf(positionsOf(test.geometry))
  const arePoints = Boolean(test.attribute.isPoint) && /Point$/.test(test.geometry.type)
  const wanted = test.kind === 'dwithin' ? narrowBoxesAround(extent, test.distanceMetres, arePoints) : [extent]
  const boxes = wanted.map((box) => boxIn(test.attribute, box, definitions))
  if (!boxes.every((box) => box !== undefined)) return []
  return boxes.flatMap((box) => reachable(test.attribute, box, fact)).map((box) => meets(column, box, fact?.covering))
}

/** Of the copies of a box those that the file can have something in. */
function reachable(attribute: Attribute, box: Box, fact: GeometryFact | undefined): readonly Box[] {
  const [west = -540, , east = 540] = fact?.extent ?? []
  if (!isDegrees(attribute) || (west >= -180 && east <= 180)) return [box]
  const [copy, ...others] = copiesOf(box)
  return [copy ?? box, ...others.filter((other) => other.west <= east && other.east >= west)]
}

const isDegrees = ({ srid }: Attribute): boolean => !srid || srid === 4326

function meets(column: Sql, { west, south, east, north }: Box, covering: Covering): Sql {
  const wkt = `POLYGON((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))`
  const overlaps = sql`${column} && ${wkt}::GEOMETRY`
  if (!covering) return sql`(${overlaps})`
  const bounds = [
    sql`${side(covering.xmin)} <= ${float(east, 1)}`,
    sql`${side(covering.xmax)} >= ${float(west, -1)}`,
    sql`${side(covering.ymin)} <= ${float(north, 1)}`,
    sql`${side(covering.ymax)} >= ${float(south, -1)}`,
  ]
  return sql`(${joinSql(bounds, ' AND ')} AND ${overlaps})`
}

export const side = (path: readonly string[]): Sql =>
  sql`q.${joinSql(
    path.map((name) => ident(name)),
    '.',
  )}`

/** More than the distance of two neighbouring floats, relative to them. */
const floatGap = 1e-6

/**
 * Rounded outwards, because boxes of FLOAT are rounded too; `&&` is the exact test. A constant of DOUBLE would make the engine cast
 * such a column, and then it skips no row group; one of FLOAT serves columns of either type.
 */
const float = (value: number, direction: 1 | -1): Sql => raw(`${value + direction * Math.abs(value) * floatGap}::FLOAT`)

const steps = 16
/** Of a projected box, for what bends outwards between two places on its edge. */
const margin = 0.02

/** Further away from where a system is meant for, places come out wrong. */
const largest = 30

function boxIn({ srid }: Attribute, box: Box, definitions: Definitions): Box | undefined {
  if (!srid || srid === 4326) return box
  const { west, south, east, north } = box
  if (!definitions[srid] || east - west > largest || north - south > largest) return undefined
  const { forward } = proj4('EPSG:4326', definitionOf(srid, definitions))
  const places = Array.from({ length: (steps + 1) ** 2 }, (_, index) =>
    forward([
      west + ((east - west) * (index % (steps + 1))) / steps,
      south + ((north - south) * Math.floor(index / (steps + 1))) / steps,
    ]),
  )
  if (!places.flat().every(Number.isFinite)) return undefined
  const extent = extentOf(places.map(([x = 0, y = 0]) => [x, y] as const))
  const pad = Math.max(extent.east - extent.west, extent.north - extent.south, 1) * margin
  return { west: extent.west - pad, south: extent.south - pad, east: extent.east + pad, north: extent.north + pad }
}
