import type { Dataset } from '../dataset-record.ts'
import type { Source } from '../dataset-type.ts'
import { visiblePlan } from './narrowing.ts'

/**
 * The source with the rows that the caller may see. Who writes SQL for its relation takes `visibleRows` of the dataset into it.
 * The plan of a query tells of all rows, by the estimates in it, so it is not shown.
 */
export function visibleSource(dataset: Dataset, source: Source): Source {
  if (!dataset.narrowing) return source
  const { compileRow: _, ...others } = source
  return {
    ...others,
    rows: (plan, shape, options) => source.rows(visiblePlan(dataset, plan), shape, options),
    explain: async () => ({ hidden: 'The plan is not shown to callers whom rules of the dataset bind.' }),
  }
}
