// What rules leave of the rows of a source that sends all of them, where attributes are shown in some rows only.
import type { ValueRow } from '../../../query/filter/expression-value.ts'
import { filterPredicate } from '../../../query/filter/filter-predicate.ts'
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

/** All conditions are asked of the row as it came. */
export function maskedRows(rows: readonly ValueRow[], { rows: where, cells }: RowMask): readonly ValueRow[] {
  const isSeen = filterPredicate(where)
  const masks = cells.map(([name, filter]) => ({ name, isShown: filterPredicate(filter) }))
  return rows
    .filter((row) => isSeen(row) === true)
    .map((row) => {
      const hidden = masks.filter(({ isShown }) => isShown(row) !== true).map(({ name }) => [name, null] as const)
      return hidden.length === 0 ? row : { ...row, ...Object.fromEntries(hidden) }
    })
}
