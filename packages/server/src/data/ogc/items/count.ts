// numberMatched: the exact number of features, where counting them is cheap.

import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Source } from '../../datasets/dataset-type.ts'
import { countColumn, totalRows } from '../../datasets/queries/total-rows.ts'

/** The planner's cost of a count that is worth its time: about 800 000 narrow rows, or 1 600 geometries in a box. */
const mostCost = 20_000

/** Undefined where the planner expects too much work, or nobody can tell. */
export async function cheapCount(source: Source, plan: Plan, options: SelectOptions): Promise<number | undefined> {
  if (!source.isCountable) return undefined
  const counted: Plan = { ...plan, columns: [countColumn], group: [], order: [], limit: undefined, offset: 0 }
  const cost = costOf(await source.explain(counted, options))
  return cost !== undefined && cost <= mostCost ? totalRows(source, plan, 'exact', options) : undefined
}

function costOf(explained: unknown): number | undefined {
  const [first] = Array.isArray(explained) ? (explained as { Plan?: { 'Total Cost'?: unknown } }[]) : []
  const cost = first?.Plan?.['Total Cost']
  return typeof cost === 'number' ? cost : undefined
}
