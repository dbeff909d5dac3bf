import { joinSql, raw, type Sql, sql } from '../db/sql.ts'
import type { Extent } from './tile-source.ts'

/**
 * Large geometries with less in them before they travel. Nothing here asks whether a polygon is valid: it may be anything, and
 * functions of GEOS answer for that what they like (ST_ClipByBox2D the complement), or take longer than all the rest to find out.
 */

/** How large a geometry is stored is known without reading it. */
const bytes = {
  /** Larger ones lose points that fall together in the tile, which takes less time than sending them. */
  thinned: 16_384,
  /** Even larger ones are cut to the tile, which takes longer than sending less than this. */
  cut: 2_097_152,
}

/** What is no wider than so many tiles is simplified as a whole; of others most points are not in the tile. */
const simplifiedTiles = 4

/** PostGIS refuses curves and surfaces, which would fail the whole tile. */
const lines = `'LINESTRING', 'MULTILINESTRING'`
const areas = `'POLYGON', 'MULTIPOLYGON'`

type Given = {
  readonly stored: Sql
  /** The same as a geometry. */
  readonly shape: Sql
  /** As it travels. */
  readonly place: Sql
}

/** The boxes of which something is seen, in the coordinates of travel and apart from each other; all is when there is none. */
type Seen = {
  readonly boxes: readonly Extent[]
  readonly unit: number
  /** The width of a tile, where geometries travel in their own coordinates. */
  readonly width?: number
}

export function reduced({ stored, shape, place }: Given, { boxes, unit, width }: Seen): Sql {
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

/** Clipped by the four sides of each box, one after the other (Sutherland and Hodgman), which is right for any ring. */
function cutArea(place: Sql, boxes: readonly Extent[]): Sql {
  const [, south, , north] = boxes[0] as Extent
  const measured = sql`ST_Force3DM(${place})`
  return collected(boxes.map(([west, , east]) => between(between(measured, 'xm', west, east), 'ym', south, north)))
}

/** Polygons are cut by their measure only: M changes places with x or y for the while. */
const between = (place: Sql, axes: 'xm' | 'ym', least: number, most: number): Sql => sql`
  ST_SwapOrdinates(ST_LocateBetween(ST_SwapOrdinates(${place}, '${raw(axes)}'), ${least}::float8, ${most}::float8), '${raw(axes)}')`

function cutLine(place: Sql, boxes: readonly Extent[]): Sql {
  return collected(
    boxes.map(
      ([west, south, east, north]) => sql`
        ST_ClipByBox2D(${place}, ST_MakeEnvelope(${west}::float8, ${south}::float8, ${east}::float8, ${north}::float8)::box2d)`,
    ),
  )
}

const collected = (parts: readonly Sql[]): Sql =>
  parts.length === 1 ? (parts[0] as Sql) : sql`ST_Collect(ARRAY[${joinSql(parts, ', ')}])`
