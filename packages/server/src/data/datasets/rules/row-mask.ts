// What rules leave of the rows of a source that sends all of them, where attributes are shown in some rows only.
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Dataset } from '../dataset-record.ts'

/** Plain data, so that it can be posted to a thread. */
export type RowMask = {
  readonly rows: Filter
  /** In which of these rows an attribute is seen. */
  readonly cells: readonly (readonly [string, Filter])[]
}

export const rowMaskOf = ({ narrowing }: Pick<Dataset, 'narrowing'>): RowMask | undefined =>
  narrowing && narrowing.masks.size > 0 ? { rows: narrowing.rows, cells: [...narrowing.masks] } : undefined
