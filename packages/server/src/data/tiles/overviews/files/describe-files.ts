// A table that is files, as its overview sees it.
import type { DerivedFiles } from '../../../../query/execution/connection.ts'
import { everyRow } from '../../../../query/plan/every-row.ts'
import type { Dataset } from '../../../datasets/dataset-record.ts'
import type { Sources } from '../../../datasets/sources.ts'
import { type DatasetLayer, layerOf } from '../../source/dataset-layer.ts'
import type { TileBudget } from '../../source/tile-budget.ts'
import { type SelectedColumn, selectedColumn } from '../../sql/tile-columns.ts'
import { type BlockQuery, blockQuery } from '../../strategy/block-query.ts'
import { rowsOfFile, type SampledRows } from '../../thinning/densest-tiles.ts'
import { overviewColumns, shapeOfFiles } from './file-overview.ts'

export type DescribedFiles = {
  readonly layer: DatasetLayer
  readonly query: BlockQuery
  readonly derived: DerivedFiles
  /** Of the files that it is made of. */
  readonly version: string
  readonly shape: string
  readonly sampled: SampledRows
}

export type DescribeOptions = {
  readonly sources: Pick<Sources, 'open'>
  readonly budget: TileBudget
  /** Smaller tables have no overview. */
  readonly minRows: number
}

/** Names that the files of an overview give to columns of their own. */
const taken = /^svc_(count|class|rank|row)$/i

/** Undefined if there can be no overview of it. */
export async function describeFiles(
  { sources, budget, minRows }: DescribeOptions,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<DescribedFiles | undefined> {
  const hasGeometry = dataset.attributes.some(({ type }) => type === 'geometry')
  if (dataset.type !== 'table' || !hasGeometry || dataset.attributes.some(({ name }) => taken.test(name)))
    return undefined
  const source = (await sources.open(dataset, {})).inBlocks
  const derived = source?.connection.derived
  if (!source || !derived) return undefined
  const layer = layerOf(dataset)
  const query = await blockQuery(
    source,
    layer,
    { plan: everyRow, inTile: () => everyRow, columns: columnsOf(layer) },
    signal,
  )
  const { version, from, rows = 0 } = query?.thinning ?? {}
  if (!query || !version || !from || rows < minRows) return undefined
  // As that of its tiles, which are measured once for both.
  const sampled = rowsOfFile(dataset, version, [everyRow.where, {}])
  return { layer, query, derived, version, shape: shapeOfFiles(layer, budget), sampled }
}

const columnsOf = (layer: DatasetLayer): SelectedColumn[] =>
  overviewColumns(layer).flatMap((name) => {
    const dto = layer.dataset.attributes.find((one) => one.name === name)
    const attribute = layer.attributes.get(name)
    return dto && attribute ? [selectedColumn(dto, attribute, false)] : []
  })
