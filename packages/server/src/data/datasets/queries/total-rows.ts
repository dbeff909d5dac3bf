// Total row counts of queries, exact or estimated.
import { invalid } from '../../../kernel/errors.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Source } from '../dataset-type.ts'

/** Count the rows, or use the planner's estimate. */
export type Count = 'exact' | 'estimated'

export function readCount(text: string | undefined): Count | undefined {
  if (text === undefined || text === 'exact' || text === 'estimated') return text
  throw invalid('query/count', 'must be exact or estimated')
}

/** The number of rows of a plan without its limit and offset. */
export async function totalRows(source: Source, plan: Plan, count: Count, options: SelectOptions): Promise<number> {
  const whole: Plan = { ...plan, limit: undefined, offset: 0 }
  const expected = count === 'estimated' ? expectedRows(await source.explain(whole, options)) : undefined
  return expected ?? countRows(source, whole, options)
}

/** The estimate of PostgreSQL's planner. Undefined if there is no planner, or the caller may not see its plan. */
export function expectedRows(explained: unknown): number | undefined {
  const [first] = Array.isArray(explained) ? (explained as { Plan?: { 'Plan Rows'?: unknown } }[]) : []
  const rows = first?.Plan?.['Plan Rows']
  return typeof rows === 'number' ? rows : undefined
}

/** Groups and distinct rows are counted as they arrive; other rows by the database. */
async function countRows(source: Source, plan: Plan, options: SelectOptions): Promise<number> {
  const isCountable = plan.group === undefined && plan.distinct.length === 0
  const counted: Plan = isCountable ? { ...plan, columns: [countColumn], group: [], order: [] } : plan
  const { batches } = await source.rows(counted, { geometry: 'geojson', srid: 4326 }, options)
  let rows = 0
  for await (const batch of batches) rows += isCountable ? Number(batch[0]?.[0] ?? 0) : batch.length
  return rows
}

export const countColumn = { name: 'count', aggregate: 'count', type: 'integer' } as const
