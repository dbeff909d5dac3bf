import { and, ident, joinSql, raw, type Sql, sql } from '../db/sql.ts'
import type { Attribute } from '../query/attribute.ts'
import { filterSql } from '../query/filter-sql.ts'
import type { Filter } from '../query/filter-tree.ts'
import { column } from '../query/plan-sql.ts'
import { tileInDegrees, tileInMetres, unitInMetres } from './grid.ts'
import { isInDomain, toMercator } from './mercator-sql.ts'
import type { Coordinates, Tile } from './mvt/projection.ts'
import type { OwnCoordinates } from './own-coordinates.ts'
import { reduced } from './reduced-sql.ts'
import type { SelectedColumn } from './tile-columns.ts'
import type { Extent } from './tile-source.ts'

export const tileExtent = 4096
export const tileBuffer = 64
export const tileMargin = tileBuffer / tileExtent

const mercatorCodes = new Set([3857, 900913, 3785, 102100, 102113])

/** In which coordinates a geometry travels: its own where the encoder reads them, web mercator otherwise. */
export function coordinatesOf(geometry: Attribute): Coordinates {
  if (geometry.mixed) return 'mercator'
  return geometry.geography || (geometry.srid || 4326) === 4326 ? 'lonlat' : 'mercator'
}

export type TileQuery = {
  readonly tile: Tile
  readonly from: Sql
  readonly geometry: Attribute
  /** There is never more than a point in a row, which is never worth cutting. */
  readonly isPoint: boolean
  readonly columns: readonly SelectedColumn[]
  readonly where: Filter
  /** Some longitudes lie beyond ±180. */
  readonly isWrapped: boolean
  readonly order: readonly Sql[]
  readonly limit: number
  /** How many rows a row stands for, when it is not one. */
  readonly weight?: Sql
  /** The rows are neither transformed nor cut. */
  readonly own?: OwnCoordinates
  /** In tiles, around the tile; as much as is drawn there unless told. */
  readonly margin?: number
}

/** The rows of a tile: its geometry first, then the columns. */
export function tileSql(query: TileQuery): Sql {
  const { from, columns, order, limit } = query
  const shown = [travelling(query), ...columns.map(({ value }) => value)]
  const clauses = [sql`SELECT ${joinSql(shown, ', ')} FROM ${from} AS q WHERE ${conditionsOf(query)}`]
  if (order.length > 0) clauses.push(sql`ORDER BY ${joinSql(order, ', ')}`)
  return joinSql([...clauses, sql`LIMIT ${limit}::int8`], ' ')
}

/** How many rows lie in the tile; no more than `most` are counted. */
export function totalSql(query: TileQuery, most?: number): Sql {
  const { from, geometry, weight } = query
  if (most !== undefined) {
    const some = sql`SELECT FROM ${from} AS q WHERE (${conditionsOf(query)}) AND ${stored(geometry)} IS NOT NULL`
    return sql`SELECT count(*) FROM (${some} LIMIT ${most}::int8) AS part`
  }
  const count = weight ? sql`coalesce(sum(${weight}), 0)` : sql`count(${stored(geometry)})`
  return sql`SELECT ${count} FROM ${from} AS q WHERE ${conditionsOf(query)}`
}

/** Those that can be seen in the tile, of those that were asked for. */
export function conditionsOf({ tile, geometry, where, isWrapped, own, margin = tileMargin }: TileQuery): Sql {
  const conditions = own ? inOwnBox(own, geometry) : inTile(tile, geometry, isWrapped, margin)
  if (where.kind !== 'and' || where.filters.length > 0) conditions.push(filterSql(where, column))
  return and(conditions)
}

/** The largest first: what is left out then is what would be seen least. */
export const bySize = (geometry: Attribute): Sql => sql`ST_Area(Box2D(${asGeometry(geometry)})) DESC NULLS LAST`

const stored = (geometry: Attribute): Sql => sql`q.${ident(geometry.name)}`

const asGeometry = (geometry: Attribute): Sql =>
  geometry.geography ? sql`${stored(geometry)}::geometry` : stored(geometry)

function travelling({ tile, geometry, isPoint, isWrapped, own }: TileQuery): Sql {
  if (own) return sql`CASE WHEN ${isInDomain(geometry)} THEN ${stored(geometry)} END`
  const srid = geometry.srid || 4326
  const isReadable = geometry.geography || (!geometry.mixed && (srid === 4326 || mercatorCodes.has(srid)))
  const place = isReadable ? asGeometry(geometry) : toMercator(geometry)
  if (isPoint) return place
  const isLonLat = coordinatesOf(geometry) === 'lonlat'
  // Twice the margin: what is cut here must be cut again where the tile ends.
  const box = isLonLat ? tileInDegrees(tile, 2 * tileMargin) : tileInMetres(tile, 2 * tileMargin)
  const world = isLonLat ? 360 : unitInMetres(0, 1)
  const width = world / 2 ** tile.z
  return reduced(
    { stored: stored(geometry), shape: asGeometry(geometry), place },
    // The world and its copies overlap in its own tile, which shows all of it.
    {
      boxes: tile.z === 0 ? [] : worlds(box, world, isWrapped),
      unit: width / tileExtent,
      ...(isReadable && { width }),
    },
  )
}

/** So large a tile has no shape in another projection, nor as a body in space; what it does not show is dropped later. */
export function hasBox({ tile, geometry }: Pick<TileQuery, 'tile' | 'geometry'>): boolean {
  const { srid, geography = false, mixed = false } = geometry
  const isPlain = !geography && ((srid || 4326) === 4326 || mercatorCodes.has(srid ?? 0))
  return !mixed && (tile.z >= 4 || isPlain)
}

/** The rows that can touch the tile, by the index of the column. The tile is transformed, never the rows. */
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
  return [sql`${value} && ST_SetSRID(ST_Expand(ST_Transform(${edge}, ${srid}::int4), 1), ${ownSrid}::int4)`]
}

function inOwnBox({ box }: OwnCoordinates, geometry: Attribute): Sql[] {
  if (box === 'nowhere') return [raw('FALSE')]
  return box === 'anywhere' ? [] : [overlaps(stored(geometry), [box], geometry.unlocated ? 0 : (geometry.srid ?? 0))]
}

function overlaps(value: Sql, boxes: readonly Extent[], srid: number): Sql {
  return joinSql(
    boxes.map((box) => sql`${value} && ${envelope(box, srid)}`),
    ' OR ',
  )
}

/** The tile, and the same in the copies of the world beside it where something of it can be. */
function worlds(box: Extent, width: number, isWrapped: boolean): Extent[] {
  const [west, south, east, north] = box
  const turns = [0]
  if (isWrapped || west < -width / 2) turns.push(width)
  if (isWrapped || east > width / 2) turns.push(-width)
  return turns.map((turn) => [west + turn, south, east + turn, north])
}

const envelope = ([west, south, east, north]: Extent, srid: number): Sql =>
  sql`ST_MakeEnvelope(${west}::float8, ${south}::float8, ${east}::float8, ${north}::float8, ${srid}::int4)`

const within = ([west, south, east, north]: Extent): Extent => [
  Math.max(-180, west),
  Math.max(-89.9, south),
  Math.min(180, east),
  Math.min(89.9, north),
]
