/** Marks of cells that are being saved or could not be, with the value that was typed. By row and column. */
import type { RowId } from '../../table/selection.ts'
import type { CellChange } from './cell-change.ts'
import type { JsonValue } from './inline-cell.ts'

export interface CellMark {
  value: JsonValue
  /** Why it could not be saved; undefined while it is being saved. */
  failure?: string
}

export type RowMarks = ReadonlyMap<string, CellMark>
export type CellMarks = ReadonlyMap<string, RowMarks>

export const noMarks: CellMarks = new Map()

export const marksOf = (marks: CellMarks, id: RowId | undefined): RowMarks | undefined => marks.get(String(id))

export function withMark(marks: CellMarks, { id, column, after }: CellChange, failure?: string): CellMarks {
  const row = new Map(marks.get(String(id))).set(column, { value: after, ...(failure !== undefined && { failure }) })
  return new Map(marks).set(String(id), row)
}

/** A cell that was changed again meanwhile keeps the mark of the newer change. */
export function withoutMark(marks: CellMarks, { id, column, after }: CellChange): CellMarks {
  const row = new Map(marks.get(String(id)))
  if (row.get(column)?.value !== after) return marks
  row.delete(column)
  const rest = new Map(marks)
  if (row.size > 0) rest.set(String(id), row)
  else rest.delete(String(id))
  return rest
}
