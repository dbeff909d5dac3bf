/**
 * Values of columns whose types a note of our own exports says. A note is believed as far as the values bear it out, because the
 * file may have been changed since: where one is not of the type, the column is text.
 */
import type { NotedColumn } from '../../../../query/formats/table-note.ts'
import type { FieldType } from '../reader.ts'
import { type RowWriter, writeJson, writeValue } from './copy-binary.ts'
import type { DecimalDigits } from './numeric-binary.ts'
import type { RecordField } from './reading.ts'
import { parseTemporal } from './temporal.ts'
import { isJson, kind } from './type-inference.ts'

type ReadNoted = (text: string, digits: DecimalDigits | undefined) => unknown

const wholeNumber = /^-?\d{1,19}$/

function readWhole(text: string, bits: number): bigint | undefined {
  if (!wholeNumber.test(text)) return undefined
  const value = BigInt(text)
  return value === BigInt.asIntN(bits, value) ? value : undefined
}

const decimal = /^-?0*(\d*)(?:\.(\d+))?$/

/** A decimal of at most so many digits; others would fail in the database or lose some. */
function readDecimal(text: string, digits: DecimalDigits | undefined): string | undefined {
  const [, whole = '', fraction = ''] = decimal.exec(text) ?? []
  if (whole === '' && fraction === '' && !/^-?0+$/.test(text)) return undefined
  if (!digits) return text
  return whole.length <= digits.precision - digits.scale && fraction.length <= digits.scale ? text : undefined
}

const notFinite = /^(NaN|-?Infinity)$/

function readDouble(text: string): number | undefined {
  const value = Number(text)
  if (text.trim() === '') return undefined
  return Number.isFinite(value) || notFinite.test(text) ? value : undefined
}

const truths: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const readTemporal =
  (kinds: RegExp): ReadNoted =>
  (text) =>
    kinds.test(parseTemporal(text)?.kind ?? '') ? text : undefined

/** Formats without zones, and those with UTC only, have both kinds of moments on one clock. */
const moments = /^(date|timestamp|timestamptz)$/

const readers: Readonly<Record<FieldType, ReadNoted>> = {
  text: (text) => text,
  integer: (text) => readWhole(text, 32),
  bigint: (text) => readWhole(text, 64),
  number: readDouble,
  numeric: readDecimal,
  boolean: (text) => truths[text],
  date: readTemporal(/^date$/),
  time: readTemporal(/^time$/),
  timestamp: readTemporal(moments),
  timestamptz: readTemporal(moments),
  json: (text) => (isJson(text) ? text : undefined),
  uuid: (text) => (uuid.test(text) ? text : undefined),
  binary: (text) => (base64.test(text) ? Buffer.from(text, 'base64') : undefined),
}

/** The value as one of the column's type; null for nothing, undefined when it is none. */
function readNoted(value: unknown, column: NotedColumn): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return column.type === 'binary' ? value : undefined
  const digits = digitsOf(column)
  const isDouble = typeof value === 'number' && column.type === 'numeric' && digits !== undefined
  return readers[column.type](isDouble ? value.toFixed(Math.min(digits.scale, 100)) : String(value), digits)
}

const digitsOf = ({ precision, scale }: NotedColumn): DecimalDigits | undefined =>
  precision === undefined || scale === undefined ? undefined : { precision, scale }

/** The kinds of a value: text where it is not of the column's type. */
export const kindsOfNoted = (value: unknown, column: NotedColumn): number =>
  readNoted(value, column) === undefined ? kind.text : kind.none

export function notedField(column: NotedColumn, place: number, kinds: number): RecordField {
  const { name, type } = column
  return kinds & kind.text ? { name, place, type: 'text' } : { name, place, type, digits: digitsOf(column) }
}

/** Writes the value as the note says, or as text where values are not of that type. */
export function writeNoted(rows: RowWriter, type: FieldType, value: unknown, column: NotedColumn): void {
  const read = type === column.type ? readNoted(value, column) : value
  // Its digits are kept, as the text has them.
  if (type === 'json' && typeof read === 'string') writeJson(rows, read)
  else writeValue(rows, type, read)
}
