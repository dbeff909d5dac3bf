/** Which cells are edited in their place in the table, and the values of what is typed there. The form is for all others. */
import type { JsonObject } from '@graticule/client'
import type { DatasetAttribute } from '../../dataset.ts'
import { type CellDraft, cellDraft, emptied, readCell } from '../cell-draft.ts'

export type JsonValue = JsonObject[string]

/** Longer texts need a field of several lines. */
const maxInlineLength = 200

const inlineTypes: readonly DatasetAttribute['type'][] = [
  ...(['string', 'integer', 'number', 'boolean'] as const),
  ...(['date', 'datetime', 'time', 'uuid'] as const),
]

/** A time with a zone cannot be compared by the filter that guards a change. */
export const isInlineColumn = ({ type, dbType, primaryKey, generated }: DatasetAttribute): boolean =>
  inlineTypes.includes(type) && !primaryKey && generated !== 'always' && !dbType.includes('time with time zone')

export const isSameValue = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

export const isInlineValue = (value: unknown): boolean =>
  typeof value !== 'string' || (value.length <= maxInlineLength && !value.includes('\n'))

/** What the editor of a cell begins with. */
export const inlineDraft = (attribute: DatasetAttribute, value: unknown): CellDraft => cellDraft(attribute, value)

/** The draft of a text that was typed or pasted. */
export const typedDraft = (attribute: DatasetAttribute, text: string): CellDraft =>
  text === '' ? emptied(attribute, false) : { mode: 'value', text }

export function readInline(attribute: DatasetAttribute, draft: CellDraft): { value: JsonValue } | { error: string } {
  const read = readCell(attribute, draft)
  if ('error' in read) return read
  return 'value' in read ? { value: read.value as JsonValue } : { error: 'Type a value.' }
}
