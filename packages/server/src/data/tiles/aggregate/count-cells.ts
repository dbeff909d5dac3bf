// Counts the rows of a dataset by cell, in a thread.
import type { CellAggregate } from '../../../query/plan/cell-aggregate.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { TileData } from '../source/tile-source-type.ts'
import type { TileWorkers } from '../workers/tile-workers.ts'
import { type CellRegion, cellRows } from './cell-source.ts'
import type { CellTable } from './cell-table.ts'

type Counted = {
  readonly source: TileData
  readonly geometry: Attribute
  readonly aggregate: CellAggregate
  /** Says which rows; where they are asked for by box, too. */
  readonly plan: Plan
  readonly region?: CellRegion | undefined
  readonly applicationId: string
}

/** One piece of rows after the other: a database that a thread can ask for itself has one. */
export async function countCells(
  workers: Pick<TileWorkers, 'collect'>,
  { source, geometry, aggregate, plan, region, applicationId }: Counted,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<CellTable> {
  const { scheme, attributes } = aggregate
  const collect = { scheme, attributes: attributes.length }
  let table: CellTable | undefined
  for await (const rows of cellRows(source, { geometry, attributes, where: plan.where, region }, plan, limits)) {
    table = await workers.collect({ rows, collect, former: table }, limits.signal, { applicationId })
  }
  if (!table) throw new Error('There are rows, if none in them')
  return table
}
