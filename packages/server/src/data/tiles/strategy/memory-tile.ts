// Tiles from a source without SQL, such as a web service: its rows are read here.
import type { Plan } from '../../../query/plan/plan.ts'
import type { ParameterValues } from '../../datasets/dataset-type.ts'
import type { RowCache } from '../cache/row-cache.ts'
import { questionKey } from '../http/tile-request.ts'
import type { Tile } from '../mvt/projection.ts'
import { weight } from '../overviews/overview.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import type { LoadedTileSource, TileData } from '../source/tile-source-type.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import { memoryBatches } from '../sql/tile-rows.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { countedAs } from '../thinning/thinned-sql.ts'
import type { TileRows } from '../workers/tile-job.ts'
import { counted, featuresText, type MakeTile, type StrategyResult } from './run-tile-strategy.ts'

type MemoryWork = {
  readonly opened: TileData
  readonly plan: Plan
  /** The plan with the tile's box as a filter. */
  readonly inTile: Plan
  readonly columns: readonly SelectedColumn[]
  readonly shown: number
  readonly tile: Tile
  /** Values of the dataset's own parameters. */
  readonly inputs: ParameterValues
  readonly make: MakeTile
  /** Absent if the caller wants the first rows only. */
  readonly budget?: TileBudget
}

export async function memoryTile(
  rowCache: RowCache,
  loadedSource: LoadedTileSource,
  layer: DatasetLayer,
  work: MemoryWork,
  signal: AbortSignal,
): Promise<StrategyResult> {
  const rows = await rowsInMemory(rowCache, loadedSource, layer, work, signal)
  const isThinned = 'chosen' in rows && rows.counts !== undefined
  const columns = isThinned ? [...work.columns, countedAs(weight)] : work.columns
  const made = await work.make(rows, columns, 'lonlat')
  const features = isThinned
    ? featuresText(made.shown, { rows: made.rows, isExact: true })
    : counted(made, layer.geometryType === 'point')
  return { made, columns, features }
}

/**
 * A source that can select by box is asked for the tile's rows. From others all rows are read once for many tiles; if
 * they are too many for the cache, only the tile's rows are kept.
 */
async function rowsInMemory(
  rowCache: RowCache,
  { source, version }: LoadedTileSource,
  { geometry }: DatasetLayer,
  { opened, plan, inTile, columns, shown, tile, inputs, budget }: MemoryWork,
  signal: AbortSignal,
): Promise<TileRows> {
  const read = (asked: Plan, end: AbortSignal) => memoryBatches(opened, asked, geometry, columns, end)
  // One row more than shown tells that there are more.
  if (opened.readsBoxes) return cellsOf(await Array.fromAsync(await read({ ...inTile, limit: shown + 1 }, signal)))
  const all = {
    tile,
    margin: tileMargin,
    signal,
    ...(budget && { budget }),
    read: (end: AbortSignal) => read(plan, end),
  }
  const cached = await rowCache.inTile(source.applicationId, `${source.id} ${version} ${questionKey(inputs)}`, all)
  return cached ?? cellsOf(await Array.fromAsync(await read(inTile, signal)))
}

const cellsOf = (batches: (string | null)[][][]): TileRows => ({ cells: batches.flat(), geometry: 'geojson' })
