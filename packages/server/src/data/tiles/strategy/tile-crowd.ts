// Finds the tiles that would hold far more rows than they show, before any row is read.
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { TileBudget, TileData, TileDatasets, TileTable } from '../source/tile-source-type.ts'
import { hasGrid, type PageSample } from '../sql/sample-sql.ts'
import { plannedTile } from '../sql/tile-rows.ts'
import type { TileQuery } from '../sql/tile-sql.ts'
import type { CrowdStrategy } from './tile-strategy.ts'

/** A crowded tile shows at most this many rows, and at most as many as fit with this few bytes each. */
const enough = { rows: 10_000, bytes: 32 }
/** A tile is crowded if it has this many times the rows that it shows; for fewer, reading them all costs no more. */
const far = 4
/** Rows read of a sampled table: this many if that is cheap, and at least this multiple of those shown; see sampleSql. */
const read = { rows: 50_000, spread: 2 }
/** Rows of a sample are read one after the other, which is faster than by index by about this factor. */
const sequential = 2
/** Tiles above this zoom are not worth asking the planner about. */
const maxZoom = 12

type Crowd = {
  readonly inSql: NonNullable<TileData['inSql']>
  readonly query: TileQuery
  readonly budget: TileBudget
  readonly signal: AbortSignal
}

/** The strategy for a tile with far more rows than it shows, by the planner's estimate; undefined for other tiles. */
export async function findCrowd(
  data: Pick<TileDatasets, 'table'>,
  { dataset, geometryType }: Pick<DatasetLayer, 'dataset' | 'geometryType'>,
  { inSql, query, budget, signal }: Crowd,
): Promise<CrowdStrategy | undefined> {
  const isPoint = geometryType === 'point'
  // Multipoints are neither sampled, because they are in several cells, nor sorted by size.
  if (query.tile.z > maxZoom || (isPoint ? !hasGrid(query) : query.isPoint)) return undefined
  const most = Math.floor(Math.min(enough.rows, budget.maxFeatures, budget.maxBytes / enough.bytes))
  const table = await data.table(dataset)
  if (!table || table.rows <= far * most) return undefined
  if ((await rowsAround(table, { inSql, query, signal })) <= far * most) return undefined
  const { rows } = await plannedTile(inSql, query, signal)
  if (rows <= far * most) return undefined
  return isPoint ? { from: 'sample', rows, most, ...sampleOf(rows, table.rows, most) } : { from: 'largest', rows, most }
}

/** Tiles above a tile: one question to the planner answers for 64 tiles, most of which are not crowded. */
const zoomsUp = 3
const mostRemembered = 10_000

/** The planner's estimate of the rows around a tile, whatever the filter. */
async function rowsAround(
  { plannedRows }: TileTable,
  { inSql, query, signal }: Pick<Crowd, 'inSql' | 'query' | 'signal'>,
): Promise<number> {
  const up = Math.min(zoomsUp, query.tile.z)
  const tile = { z: query.tile.z - up, x: query.tile.x >> up, y: query.tile.y >> up }
  const key = `${tile.z}/${tile.x}/${tile.y}`
  const estimate = plannedRows.get(key)
  if (estimate !== undefined) return estimate
  const { rows } = await plannedTile(inSql, { ...query, tile, where: { kind: 'and', filters: [] } }, signal)
  if (plannedRows.size >= mostRemembered) plannedRows.clear()
  plannedRows.set(key, rows)
  return rows
}

/**
 * Steps of two, so that the rows of a smaller sample are among those of a larger one. Where the tile has few of the table's
 * rows, the index finds them sooner than a sample of the whole table.
 */
function sampleOf(rows: number, tableRows: number, most: number): PageSample {
  const part = 2 ** -Math.ceil(Math.log2(rows / most))
  const pages = Math.min(1, Math.max(read.spread * part, read.rows / tableRows))
  return pages * tableRows < sequential * rows ? { pages, share: part / pages } : { pages: 1, share: part }
}
