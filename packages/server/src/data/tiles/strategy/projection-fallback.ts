// Projection outside the database, for tiles whose rows PostGIS cannot transform.
import { ident, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { PointConversion } from '../mvt/convert.ts'
import type { Tile } from '../mvt/projection.ts'
import { type TileExtent, tileInDegrees } from '../source/tile-bounds.ts'
import type { TileData } from '../source/tile-source-type.ts'
import type { ProjectionFallback } from '../sql/tile-sql.ts'

/** PostGIS fails the whole query if one coordinate cannot be transformed. */
export const isTransformFault = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'invalid_request' && /\btransform: /.test(error.message)

type FallbackRequest = { readonly from: Sql; readonly geometry: Attribute; readonly tile: Tile }

/** Undefined if proj4 knows none of the reference systems. */
export async function projectionFallback(
  { connection, isTrusted }: NonNullable<TileData['inSql']>,
  { from, geometry, tile }: FallbackRequest,
  margin: number,
  signal: AbortSignal,
): Promise<ProjectionFallback | undefined> {
  const { srid, mixed = false, unlocated = false } = geometry
  if (!srid && !mixed) return undefined
  const used = mixed ? sql`SELECT ST_SRID(q.${ident(geometry.name)}) FROM ${from} AS q` : sql`SELECT ${srid ?? 0}::int4`
  const statement = sql`SELECT srid, proj4text FROM spatial_ref_sys WHERE srid IN (${used})`
  const { batches } = await connection.select(statement, { timeoutMs: 10_000, signal, isTrusted, atMost: 1000 })
  const systems = (await Array.fromAsync(batches)).flat().filter(([, text]) => /^\s*\+proj=/.test(text ?? ''))
  if (systems.length === 0) return undefined
  // Geometries without an SRID have that of their column.
  const definitions = Object.fromEntries(systems.map(([code, text]) => [unlocated ? 0 : Number(code), text ?? '']))
  const [[, definition] = []] = systems
  const isAnywhere = mixed || tile.z < 4 || !definition
  if (isAnywhere) return { definitions, box: 'anywhere' }
  const { converter } = await import('../mvt/convert.ts')
  return { definitions, box: boxOf(converter('EPSG:4326', definition), tileInDegrees(tile, margin)) }
}

const steps = 8

/** The box of the tile's edge, as far as it is inside the reference system's domain. */
function boxOf(convert: PointConversion, [west, south, east, north]: TileExtent): TileExtent | 'nowhere' {
  const places = Array.from({ length: (steps + 1) ** 2 }, (_, index) => {
    const x = west + ((east - west) * (index % (steps + 1))) / steps
    const y = south + ((north - south) * Math.floor(index / (steps + 1))) / steps
    return convert(x, Math.max(-89.9, Math.min(89.9, y)))
  }).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
  if (places.length === 0) return 'nowhere'
  const xs = places.map(([x]) => x)
  const ys = places.map(([, y]) => y)
  return [Math.min(...xs) - 1, Math.min(...ys) - 1, Math.max(...xs) + 1, Math.max(...ys) + 1]
}
