import { minus, nine, period, zero } from '../../../../query/geometry/encoding/character-codes.ts'
import { type FieldType, maxFields, ReadFault } from '../reader.ts'
import { parseTemporal } from './temporal.ts'

/** The kinds of values seen in a field, as bits: the order they are seen in does not matter, nor how often. */
export const kind = {
  none: 0,
  boolean: 1,
  int4: 2,
  int8: 4,
  /** An integer beyond 64 bits. */
  huge: 8,
  /** An integer that a double cannot hold. */
  inexact: 16,
  float: 32,
  /** A decimal with a comma. */
  comma: 64,
  date: 128,
  timestamp: 256,
  timestamptz: 512,
  time: 1024,
  text: 2048,
  json: 4096,
} as const

const { int4, int8, huge, inexact, float, comma } = kind

/** The narrowest type that loses none of the values. */
export function fieldTypeOf(kinds: number): FieldType {
  if (kinds & kind.json) return 'json'
  if (kinds === kind.none) return 'text'
  return (
    scalarTypes.find(([only, needed]) => (kinds & ~only) === 0 && (needed === 0 || (kinds & needed) !== 0))?.[2] ??
    'text'
  )
}

/** All kinds are of the first set, and one of the second when that is not empty. */
const scalarTypes: readonly (readonly [number, number, FieldType])[] = [
  [kind.boolean, 0, 'boolean'],
  [int4, 0, 'integer'],
  [int4 | int8 | inexact, 0, 'bigint'],
  [int4 | int8 | huge | float, float, 'number'],
  [int4 | int8 | comma, comma, 'number'],
  [kind.date, 0, 'date'],
  [kind.date | kind.timestamp, 0, 'timestamp'],
  [kind.timestamptz, 0, 'timestamptz'],
  [kind.time, 0, 'time'],
]

/** The kinds of an integer in digits, with its sign. */
export function kindsOfInteger(digits: string): number {
  if (digits.length < 10) return int4
  const value = BigInt(digits)
  if (value === BigInt.asIntN(32, value)) return int4
  const size = value === BigInt.asIntN(64, value) ? int8 : huge
  return size | (BigInt(Number(digits)) === value ? 0 : inexact)
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The kinds of a string of JSON: dates and times are told from text, numbers in quotes are text. */
export function kindsOfString(text: string): number {
  const temporal = isDigit(text.charCodeAt(0)) ? parseTemporal(text) : undefined
  return temporal === undefined ? kind.text : kind[temporal.kind]
}

const numberText = /^-?(0|[1-9]\d*)(?:([.,])\d+)?(?:[eE][+-]?\d{1,3})?$/
/** GDAL writes decimals below 1 without the zero in some formats. */
const bareFraction = /^-?\.\d+$/

/** The kinds of a cell of CSV and its like, where all is text; an empty one says nothing. `007` and `+5` stay text. */
export function kindsOfText(text: string, hasDecimalComma = false): number {
  if (text === '') return kind.none
  const first = text.charCodeAt(0)
  if (isDigit(first) || first === minus || first === period) return kindsOfNumberText(text, hasDecimalComma)
  return text.length <= 5 && /^(true|false)$/i.test(text) ? kind.boolean : kind.text
}

/** The kinds of a short plain number: digits, and maybe a point with digits behind it. Nothing when it is not one. */
function kindsOfPlainNumber(text: string): number {
  let at = text.charCodeAt(0) === minus ? 1 : 0
  const start = at
  while (isDigit(text.charCodeAt(at))) at++
  const hasLeadingZero = text.charCodeAt(start) === zero && at > start + 1
  if (at === start || hasLeadingZero) return kind.none
  if (at === text.length) return at < 10 ? int4 : kind.none
  const point = at++
  if (text.charCodeAt(point) !== period) return kind.none
  while (isDigit(text.charCodeAt(at))) at++
  return at === text.length && at > point + 1 && at < 30 ? float : kind.none
}

function kindsOfNumberText(text: string, hasDecimalComma: boolean): number {
  const plain = kindsOfPlainNumber(text)
  if (plain !== kind.none) return plain
  const match = numberText.exec(text)
  if (!match) return bareFraction.test(text) ? float : kindsOfString(text)
  if (match[2] === ',') return hasDecimalComma ? comma : kind.text
  if (match[2] === undefined && match[0].length === (match[1]?.length ?? 0) + (text[0] === '-' ? 1 : 0))
    return kindsOfInteger(text)
  return Number.isFinite(Number(text)) ? float : kind.text
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** The kinds of a value of JavaScript, such as JSON.parse gives. */
export function kindsOfValue(value: unknown): number {
  if (value === null || value === undefined) return kind.none
  if (typeof value === 'string') return kindsOfString(value)
  if (typeof value === 'boolean') return kind.boolean
  if (typeof value === 'bigint') return kindsOfInteger(String(value))
  if (typeof value === 'number') return kindsOfNumber(value)
  return value instanceof Date ? kind.timestamptz : kind.json
}

function kindsOfNumber(value: number): number {
  if (Number.isSafeInteger(value)) return value === (value | 0) ? int4 : int8
  return Number.isFinite(value) ? float : kind.text
}

/** The fields of a layer as they are found, in the order of their first appearance. */
export type FieldList = { names: string[]; indexes: Map<string, number> }

export function createFieldList(): FieldList {
  return { names: [], indexes: new Map() }
}

export function fieldIndex(list: FieldList, name: string): number {
  const index = list.indexes.get(name)
  if (index !== undefined) return index
  if (list.names.length >= maxFields)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  list.indexes.set(name, list.names.length)
  return list.names.push(name) - 1
}
