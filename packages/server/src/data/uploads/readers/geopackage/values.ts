import type { SQLOutputValue } from 'node:sqlite'
import { type RowWriter, writeBoolean, writeNull, writeValue } from '../engine/copy-binary.ts'
import { fieldTypeOf, kind, kindsOfString, kindsOfValue } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'

/** Bytes: a kind that text files do not know. */
const bytesKind = 1 << 20

/** What a column declares to hold, as far as it decides between like values. */
export type CellHint = 'temporal' | 'boolean' | 'real' | 'any'

export function hintOf(declared: string): CellHint {
  if (/^(DATE|TIME)/.test(declared)) return 'temporal'
  if (/^BOOL/.test(declared)) return 'boolean'
  return /REAL|FLOA|DOUB/.test(declared) ? 'real' : 'any'
}

/** The kinds of a value: SQLite lets any column hold anything, so what is declared only decides between like ones. */
export function kindsOfCell(value: Exclude<SQLOutputValue, null>, hint: CellHint): number {
  if (value instanceof Uint8Array) return bytesKind
  if (typeof value === 'string') {
    if (hint !== 'temporal') return kind.text
    return value === '' ? kind.none : kindsOfString(value)
  }
  if (hint === 'boolean' && (value === 0n || value === 1n)) return kind.boolean
  if (hint === 'real') return kind.float
  const number = Number(value)
  return kindsOfValue(Number.isSafeInteger(number) ? number : value)
}

/** The type of a column; one without values has the type that it declares. */
export function columnType(kinds: number, declared: string): FieldType {
  if (kinds === bytesKind) return 'binary'
  if (kinds & bytesKind) return 'text'
  if (kinds !== kind.none) return fieldTypeOf(kinds)
  return declaredTypes.find(([pattern]) => pattern.test(declared))?.[1] ?? 'text'
}

const declaredTypes: readonly (readonly [RegExp, FieldType])[] = [
  [/^BOOL/, 'boolean'],
  [/^(TINY|SMALL|MEDIUM)INT/, 'integer'],
  [/INT/, 'bigint'],
  [/REAL|FLOA|DOUB/, 'number'],
  [/^DATETIME/, 'timestamptz'],
  [/^DATE/, 'date'],
  [/BLOB/, 'binary'],
]

export function writeCell(writer: RowWriter, type: FieldType, value: SQLOutputValue): void {
  if (value === null) writeNull(writer)
  else if (type === 'boolean') writeBoolean(writer, value === 1n)
  else writeValue(writer, type, value)
}
