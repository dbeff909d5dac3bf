// Columns of text with apostrophes before what a spreadsheet would take for a formula, as our own exports write them.
import type { GuardedColumns } from '../../../../query/formats/formula-guard.ts'
import type { RecordField } from '../engine/reading.ts'

/** The field, with the apostrophes to be taken off. */
export function guardedField(field: RecordField, guards: GuardedColumns): RecordField {
  const isText = field.type === 'text' && !field.local && !field.unsettled
  return isText && guards.isGuarded(field.place) ? { ...field, local: { of: 'guarded' } } : field
}
