// Columns of text with apostrophes before what a spreadsheet would take for a formula, as our own exports write them.
import { isGuarded } from '../../../../query/formats/formula-guard.ts'
import type { RecordField } from '../engine/reading.ts'

export type GuardedColumns = {
  /** Looks at a cell of text. */
  note(place: number, cell: string): void
  /** The field, with the apostrophes to be taken off. */
  fieldOf(field: RecordField): RecordField
}

/** A formula without an apostrophe, or a text between two, shows that apostrophes mean something else. */
const unguarded = /^\s*[=+@]|^'.*'$/s

export function createGuardedColumns(count: number): GuardedColumns {
  const hasGuards = new Uint8Array(count)
  const hasOthers = new Uint8Array(count)
  return {
    note(place, cell) {
      if (unguarded.test(cell)) hasOthers[place] = 1
      else if (isGuarded(cell)) hasGuards[place] = 1
    },
    fieldOf(field) {
      const isText = field.type === 'text' && !field.local && !field.unsettled
      if (!isText || !hasGuards[field.place] || hasOthers[field.place]) return field
      return { ...field, local: { of: 'guarded' } }
    },
  }
}
