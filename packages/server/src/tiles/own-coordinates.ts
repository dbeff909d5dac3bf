import { sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { tileInDegrees } from './grid.ts'
import type { TileData } from './known-sources.ts'
import { converter } from './mvt/convert.ts'
import type { Tile } from './mvt/projection.ts'
import type { Extent } from './tile-source.ts'

/** Rows that travel as they are stored: how their system is defined, and where in it the tile is. */
export type OwnCoordinates = { readonly definition: string; readonly box: Extent | 'anywhere' | 'nowhere' }

/** The database gave up a whole query because of one place that it cannot transform. */
export const isTransformFault = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'invalid_request' && /\btransform: /.test(error.message)

type Asked = { readonly srid: number; readonly tile: Tile; readonly margin: number }

/** Nothing when the system is not one that we can transform ourselves. */
export async function ownCoordinates(
  { connection }: NonNullable<TileData['inSql']>,
  { srid, tile, margin }: Asked,
  signal: AbortSignal,
): Promise<OwnCoordinates | undefined> {
  const statement = sql`SELECT proj4text FROM spatial_ref_sys WHERE srid = ${srid}::int4`
  const { batches } = await connection.select(statement, { timeoutMs: 10_000, signal, isOurs: true, atMost: 1 })
  const [definition] = (await Array.fromAsync(batches)).flat(2)
  if (!definition || !/^\s*\+proj=/.test(definition)) return undefined
  return { definition, box: tile.z < 4 ? 'anywhere' : boxOf(definition, tileInDegrees(tile, margin)) }
}

const steps = 8

/** Around the edge of the tile, as far as it is in the system at all. */
function boxOf(definition: string, [west, south, east, north]: Extent): Extent | 'nowhere' {
  const convert = converter('EPSG:4326', definition)
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
