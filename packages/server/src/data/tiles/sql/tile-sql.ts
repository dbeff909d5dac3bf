// The SQL of tiles in PostGIS.
import { and, ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { column, located } from '../../../query/execution/postgres-sql.ts'
import { anyCopySql } from '../../../query/filter/antimeridian-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import { isInDomain, movedSql, straightSql } from '../../../query/filter/shape-sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { Coordinates, Tile } from '../mvt/projection.ts'
import { type TileExtent, tileInDegrees, tileInMetres, unitInMetres } from '../source/tile-bounds.ts'
import { toMercator } from './mercator-sql.ts'
import { reduced } from './reduced-sql.ts'
import type { SelectedColumn } from './tile-columns.ts'

export const tileExtent = 4096
export const tileBuffer = 64
export const tileMargin = tileBuffer / tileExtent

export const mercatorCodes = new Set([3857, 900913, 3785, 102100, 102113])

/** The transfer coordinates of a geometry: its own if the encoder can read them, else web mercator. */
export function coordinatesOf(geometry: Attribute): Coordinates {
  if (geometry.mixed) return 'mercator'
  return geometry.geography || (geometry.srid || 4326) === 4326 ? 'lonlat' : 'mercator'
}

/**
 * Projection outside the database: rows are sent in their stored reference systems, with the definitions of these and
 * the tile's box in each.
 */
export type ProjectionFallback = {
  readonly definitions: Definitions
  readonly box: TileExtent | 'anywhere' | 'nowhere'
}

export type TileQuery = {
  readonly tile: Tile
  readonly from: Sql
  readonly geometry: Attribute
  /** Every row is a single point, which is never worth clipping. */
  readonly isPoint: boolean
  readonly columns: readonly SelectedColumn[]
  readonly where: Filter
  /** Some longitudes may be beyond ±180. */
  readonly isWrapped: boolean
  readonly order: readonly Sql[]
  readonly limit: number
  /** The number of rows that a row stands for, if not one. */
  readonly weight?: Sql
  /** Rows are neither transformed nor clipped. */
  readonly fallback?: ProjectionFallback
  /** The margin around the tile, in tiles; the drawn margin by default. */
  readonly margin?: number
}

/** The rows of a tile: the geometry first, then the columns. */
export function tileSql(query: TileQuery): Sql {
  const { from, columns, order, limit } = query
  const shown = [geometrySql(query), ...columns.map(({ value }) => value)]
  const clauses = [sql`SELECT ${joinSql(shown, ', ')} FROM ${from} AS q WHERE ${conditionsOf(query)}`]
  if (order.length > 0) clauses.push(sql`ORDER BY ${joinSql(order, ', ')}`)
  return joinSql([...clauses, sql`LIMIT ${limit}::int8`], ' ')
}

/** The number of rows in the tile, counted up to `most`. */
export function totalSql(query: TileQuery, most?: number): Sql {
  const { from, geometry, weight } = query
  if (most !== undefined) {
    const some = sql`SELECT FROM ${from} AS q WHERE (${conditionsOf(query)}) AND ${stored(geometry)} IS NOT NULL`
    return sql`SELECT count(*) FROM (${some} LIMIT ${most}::int8) AS part`
  }
  const count = weight ? sql`coalesce(sum(${weight}), 0)` : sql`count(${stored(geometry)})`
  return sql`SELECT ${count} FROM ${from} AS q WHERE ${conditionsOf(query)}`
}

/** Conditions for the rows that match the filter and may be visible in the tile. */
export function conditionsOf({ tile, geometry, where, isWrapped, fallback, margin = tileMargin }: TileQuery): Sql {
  const conditions = fallback ? inFallbackBox(fallback, geometry) : inTile(tile, geometry, isWrapped, margin)
  if (where.kind !== 'and' || where.filters.length > 0) conditions.push(filterSql(where, column))
  return and(conditions)
}

/** The largest first, so that the least visible are dropped. */
export const bySize = (geometry: Attribute): Sql => sql`ST_Area(Box2D(${asGeometry(geometry)})) DESC NULLS LAST`

export const stored = (geometry: Attribute): Sql => sql`q.${ident(geometry.name)}`

const asGeometry = (geometry: Attribute): Sql =>
  geometry.geography ? sql`${stored(geometry)}::geometry` : stored(geometry)

/** The geometry as it is sent. */
export function geometrySql({ tile, geometry, isPoint, isWrapped, fallback }: TileQuery): Sql {
  if (fallback)
    return sql`CASE WHEN ${isInDomain(geometry, located(geometry))} THEN ${straightSql(geometry, stored(geometry))} END`
  const srid = geometry.srid || 4326
  const isReadable = geometry.geography || (!geometry.mixed && (srid === 4326 || mercatorCodes.has(srid)))
  const place = isReadable ? movedSql(geometry, stored(geometry), srid) : toMercator(geometry)
  if (isPoint) return place
  const isLonLat = coordinatesOf(geometry) === 'lonlat'
  // Twice the margin: the encoder clips again at the real one, so this cut must lie outside it.
  const box = isLonLat ? tileInDegrees(tile, 2 * tileMargin) : tileInMetres(tile, 2 * tileMargin)
  const world = isLonLat ? 360 : unitInMetres(0, 1)
  const width = world / 2 ** tile.z
  return reduced(
    { stored: stored(geometry), shape: asGeometry(geometry), place },
    // At zoom 0 the world and its copies overlap in one tile, which shows all of it.
    {
      boxes: tile.z === 0 ? [] : worlds(box, world, isWrapped),
      unit: width / tileExtent,
      ...(isReadable && { width }),
    },
  )
}

/** Low-zoom tiles are too large for a shape in another projection or in geography; rows outside are dropped later. */
export function hasBox({ tile, geometry }: Pick<TileQuery, 'tile' | 'geometry'>): boolean {
  const { srid, geography = false, mixed = false } = geometry
  const isPlain = !geography && ((srid || 4326) === 4326 || mercatorCodes.has(srid ?? 0))
  return !mixed && (tile.z >= 4 || isPlain)
}

/** The rows that may touch the tile, through the spatial index. The tile is transformed, never the rows. */
function inTile(tile: Tile, geometry: Attribute, isWrapped: boolean, margin: number): Sql[] {
  const srid = geometry.srid || 4326
  const ownSrid = geometry.unlocated ? 0 : (geometry.srid ?? 0)
  const value = stored(geometry)
  if (!hasBox({ tile, geometry })) return []
  const degrees = tileInDegrees(tile, margin)
  if (geometry.geography) return [sql`${value} && ST_Segmentize(${envelope(within(degrees), 4326)}, 1)::geography`]
  if (srid === 4326) return [overlaps(value, worlds(degrees, 360, isWrapped), ownSrid)]
  if (mercatorCodes.has(srid)) {
    return [overlaps(value, worlds(tileInMetres(tile, margin), unitInMetres(0, 1), isWrapped), ownSrid)]
  }
  const edge = sql`ST_Segmentize(${envelope(within(degrees), 4326)}, ${(degrees[2] - degrees[0]) / 8}::float8)`
  const area = sql`ST_SetSRID(ST_Expand(ST_Transform(${edge}, ${srid}::int4), 1), ${ownSrid}::int4)`
  return [anyCopySql(geometry, area, (copy) => sql`${value} && ${copy}`)]
}

function inFallbackBox({ box }: ProjectionFallback, geometry: Attribute): Sql[] {
  if (box === 'nowhere') return [raw('FALSE')]
  return box === 'anywhere' ? [] : [overlaps(stored(geometry), [box], geometry.unlocated ? 0 : (geometry.srid ?? 0))]
}

function overlaps(value: Sql, boxes: readonly TileExtent[], srid: number): Sql {
  return joinSql(
    boxes.map((box) => sql`${value} && ${envelope(box, srid)}`),
    ' OR ',
  )
}

/** The tile's box, and its copies in the neighbouring worlds if data can be there. */
function worlds(box: TileExtent, width: number, isWrapped: boolean): TileExtent[] {
  const [west, south, east, north] = box
  const turns = [0]
  if (isWrapped || west < -width / 2) turns.push(width)
  if (isWrapped || east > width / 2) turns.push(-width)
  return turns.map((turn) => [west + turn, south, east + turn, north])
}

const envelope = ([west, south, east, north]: TileExtent, srid: number): Sql =>
  sql`ST_MakeEnvelope(${west}::float8, ${south}::float8, ${east}::float8, ${north}::float8, ${srid}::int4)`

const within = ([west, south, east, north]: TileExtent): TileExtent => [
  Math.max(-180, west),
  Math.max(-89.9, south),
  Math.min(180, east),
  Math.min(89.9, north),
]
