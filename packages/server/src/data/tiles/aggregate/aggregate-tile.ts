// Tiles of aggregates: the cells that touch a tile, with what is known of their rows.

import type { Compression } from '../../../api/http/answers/compression.ts'
import { raw } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { type CellAggregate, type CellRequest, cellColumns, parseCells } from '../../../query/plan/cell-aggregate.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { ParameterValues } from '../../datasets/dataset-type.ts'
import { questionKey, type TileParameters } from '../http/tile-request.ts'
import type { TileColumn } from '../mvt/columns.ts'
import type { Tile } from '../mvt/projection.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { LoadedTileSource, TileData, TileMakers } from '../source/tile-source-type.ts'
import { tileBuffer, tileExtent, tileMargin } from '../sql/tile-sql.ts'
import type { StrategyResult } from '../strategy/run-tile-strategy.ts'
import { cellReach, regionOf } from './cell-reach.ts'
import { cellStatement } from './cell-source.ts'
import type { CellTable } from './cell-table.ts'
import { countCells } from './count-cells.ts'

const timeoutMs = 30_000
/** Of a tile with all its cells: what is left out would be a lie. */
const maxBytes = 5_000_000

/** Reads `aggregate` and `value` of a tile; nothing where it is one of rows. */
export function tileAggregate(
  { attributes }: Pick<DatasetLayer, 'attributes'>,
  parameters: TileParameters,
  zoom: number,
): CellAggregate | undefined {
  const { aggregate, value } = parameters
  if (aggregate === undefined) {
    if (value !== undefined)
      throw invalid('query/value', 'is only for aggregates: add aggregate, such as aggregate=h3:auto')
    return undefined
  }
  for (const name of ['attributes', 'limit'] as const) {
    if (parameters[name] !== undefined)
      throw invalid(`query/${name}`, 'must not be given with aggregate: its features are cells, not rows')
  }
  const request: CellRequest = { aggregate, value }
  return parseCells(request, attributes, zoom)
}

type AggregateWork = {
  readonly loadedSource: LoadedTileSource
  readonly layer: DatasetLayer
  readonly opened: TileData
  readonly aggregate: CellAggregate
  readonly request: {
    readonly tile: Tile
    readonly parameters: TileParameters
    readonly inputs: ParameterValues
    readonly asGeoJson: boolean
    readonly compression: Compression
  }
  /** Of all rows of the question, and of those of them in a tile and its margin. */
  plan(region?: { tile: Tile; margin: number }): Plan
}

export async function aggregateTile(
  { workers, cellTables }: Pick<TileMakers, 'workers' | 'cellTables'>,
  work: AggregateWork,
  signal: AbortSignal,
): Promise<StrategyResult> {
  const { layer, opened, aggregate, request } = work
  const { scheme, attributes } = aggregate
  const { applicationId } = layer.dataset
  const region = regionOf(scheme, request.tile)
  const margin = tileMargin + cellReach(scheme, region)
  const part = region.z === 0 || !opened.readsBoxes ? undefined : { tile: region, margin }
  const plan = work.plan(opened.inSql ? undefined : part)
  const geometry = layer.geometry
  const table = await cellTables.get(applicationId, keyOf(work, part?.tile), signal, (end) =>
    countCells(
      workers,
      { source: opened, geometry, aggregate, plan, region: part, applicationId },
      { timeoutMs, signal: end },
    ),
  )
  const made = await draw(workers, work, table, signal)
  const columns = tileColumns(aggregate).map((one) => ({ ...one, value: raw(''), isBinary: false }))
  const { inSql } = opened
  const query = { geometry, attributes, where: plan.where, region: part }
  return {
    made,
    columns,
    features: `${made.shown}/${made.shown}`,
    ...(inSql && { statement: cellStatement(inSql, query) }),
  }
}

/** Equal for tiles whose cells are counted together. What is drawn of them may differ. */
function keyOf({ loadedSource, aggregate, request }: AggregateWork, region: Tile | undefined): string {
  const { aggregate: _, value: __, ...question } = request.inputs
  const where = region ? `${region.z}/${region.x}/${region.y}` : ''
  const { scheme, attributes } = aggregate
  const names = attributes.map(({ name }) => name)
  const { id } = loadedSource.source
  return `${id} ${loadedSource.version} ${JSON.stringify([scheme, names])} ${where} ${questionKey(question)}`
}

/** Whole numbers are whole numbers in a tile, too. */
const kinds = { string: 'text', boolean: 'boolean' } as const
const tileColumns = (aggregate: CellAggregate): TileColumn[] =>
  cellColumns(aggregate).map(({ name, type }) => ({
    name,
    kind: type === 'string' || type === 'boolean' ? kinds[type] : 'decimal',
  }))

async function draw(
  workers: TileMakers['workers'],
  { layer, aggregate, request }: AggregateWork,
  table: CellTable,
  signal: AbortSignal,
) {
  const { values } = aggregate
  const { tile, compression, asGeoJson } = request
  const columns = [{ name: layer.geometry.name, kind: 'geometry' as const }, ...tileColumns(aggregate)]
  const encoder = { tile, columns, projection: 'lonlat' as const, extent: tileExtent, buffer: tileBuffer, maxBytes }
  const job = { rows: { drawn: { table, values } }, encoder, compression, asGeoJson }
  const made = await workers.make(job, signal, { applicationId: layer.dataset.applicationId })
  if (made.refused === 0) return made
  const instead = 'use a coarser resolution (a smaller number, or auto)'
  throw invalid('query/aggregate', `gives more cells than the ${maxBytes >> 20} MB of this tile hold: ${instead}`)
}
