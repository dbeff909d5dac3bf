import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { TileExtent } from '../source/tile-bounds.ts'

/**
 * Simplifies and clips large geometries in the database before they are sent. Nothing here relies on valid polygons:
 * for an invalid one, GEOS functions return anything (ST_ClipByBox2D the complement) or take longer than everything
 * else.
 */

/** Stored sizes, which are known without reading the geometry. */
const bytes = {
  /** Above this size, dropping points that coincide in the tile is cheaper than sending them. */
  thinned: 16_384,
  /** Above this size, clipping to the tile is cheaper than sending the rest. */
  cut: 2_097_152,
}

/** Geometries up to this many tiles wide are simplified as a whole; of wider ones most points are outside the tile. */
const simplifiedTiles = 4

/** Only these types, because PostGIS refuses curves and surfaces, which would fail the whole tile. */
const lines = `'LINESTRING', 'MULTILINESTRING'`
const areas = `'POLYGON', 'MULTIPOLYGON'`

type ReducedInput = {
  readonly stored: Sql
  /** The same value as a geometry. */
  readonly shape: Sql
  /** In transfer coordinates. */
  readonly place: Sql
}

/** The visible boxes in transfer coordinates, disjoint; everything is visible if there are none. */
type TileView = {
  readonly boxes: readonly TileExtent[]
  readonly unit: number
  /** The width of a tile, if geometries are sent in their own coordinates. */
  readonly width?: number
}

export function reduced({ stored, shape, place }: ReducedInput, { boxes, unit, width }: TileView): Sql {
  const thin = (value: Sql): Sql => sql`ST_RemoveRepeatedPoints(${value}, ${unit / 4}::float8)`
  const simple = (value: Sql): Sql => sql`ST_Simplify(${thin(value)}, ${unit / 4}::float8, true)`
  const isLarge = (size: number, types: string): Sql =>
    sql`pg_column_size(${stored}) > ${raw(String(size))} AND GeometryType(${shape}) IN (${raw(types)})`
  const box = sql`Box2D(${shape})`
  const cases = [sql`WHEN ${isLarge(bytes.thinned, `${lines}, ${areas}`)} THEN ${simple(place)}`]
  if (width !== undefined) {
    const isWide = sql`ST_XMax(${box}) - ST_XMin(${box}) > ${simplifiedTiles * width}::float8`
    cases.unshift(sql`WHEN ${isLarge(bytes.thinned, `${lines}, ${areas}`)} AND ${isWide} THEN ${thin(place)}`)
  }
  if (boxes.length > 0) {
    cases.unshift(
      sql`WHEN ${isLarge(bytes.cut, areas)} THEN ${simple(cutArea(place, boxes))}`,
      sql`WHEN ${isLarge(bytes.cut, lines)} THEN ${simple(cutLine(place, boxes))}`,
    )
  }
  return sql`CASE ${joinSql(cases, ' ')} ELSE ${place} END`
}

/** Clips at the four sides of each box in turn (Sutherland-Hodgman), which is correct for any ring. */
function cutArea(place: Sql, boxes: readonly TileExtent[]): Sql {
  const [, south, , north] = boxes[0] as TileExtent
  const measured = sql`ST_Force3DM(${place})`
  return collected(boxes.map(([west, , east]) => between(between(measured, 'xm', west, east), 'ym', south, north)))
}

/** PostGIS can filter polygons by M only, so M is swapped with x or y and back. */
const between = (place: Sql, axes: 'xm' | 'ym', least: number, most: number): Sql => sql`
  ST_SwapOrdinates(ST_LocateBetween(ST_SwapOrdinates(${place}, '${raw(axes)}'), ${least}::float8, ${most}::float8), '${raw(axes)}')`

function cutLine(place: Sql, boxes: readonly TileExtent[]): Sql {
  return collected(
    boxes.map(
      ([west, south, east, north]) => sql`
        ST_ClipByBox2D(${place}, ST_MakeEnvelope(${west}::float8, ${south}::float8, ${east}::float8, ${north}::float8)::box2d)`,
    ),
  )
}

const collected = (parts: readonly Sql[]): Sql =>
  parts.length === 1 ? (parts[0] as Sql) : sql`ST_Collect(ARRAY[${joinSql(parts, ', ')}])`
