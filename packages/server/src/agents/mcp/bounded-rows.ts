import Type from 'typebox'
import type { DatasetRow } from './dataset.ts'

const maxLength = 32 * 1024

/** Rows have the attributes of their dataset, or those that were asked for. */
export const rowSchema = Type.Record(Type.String(), Type.Unknown())

/** The fields of every answer with a page of rows. */
export const pageFields = {
  truncated: Type.Boolean({ description: 'Whether there is more' }),
  nextOffset: Type.Optional(Type.Integer({ description: 'The offset at which the rest begins' })),
}

export const pageSchema = Type.Object({ rows: Type.Array(rowSchema), ...pageFields })

/** A page of rows, bounded by what a model should read at once, with the offset of the next. */
export function boundedRows(rows: readonly DatasetRow[], limit: number, offset: number) {
  const { rows: shown, ...rest } = firstRows(rows, limit, offset)
  return { rows: shown.map(shortened), ...rest }
}

/** The same for rows that are known to be short. */
export function firstRows<R extends object>(rows: readonly R[], limit: number, offset: number) {
  let length = 0
  const shown = rows.slice(0, limit).filter((row, index) => {
    length += JSON.stringify(row).length + 1
    return length <= maxLength || index === 0
  })
  const truncated = shown.length < rows.length
  return { rows: shown, truncated, ...(truncated && { nextOffset: offset + shown.length }) }
}

/** One row alone may be longer than all rows should be. */
function shortened(row: DatasetRow): DatasetRow {
  const text = JSON.stringify(row)
  if (text.length <= maxLength) return row
  return {
    note: 'The row is too long to be shown. Ask for fewer attributes, or leave the geometry out.',
    beginning: text.slice(0, 1_000),
  }
}
