import type { ValueRow } from '../../../query/filter/expression-value.ts'
import { filterPredicate } from '../../../query/filter/filter-predicate.ts'
import type { RowMask } from './row-mask.ts'

/** The rows that are seen, without the values that are not. All conditions are asked of the row as it came. */
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
