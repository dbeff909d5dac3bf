import { minus, nine, period, zero } from '../../../../query/geometry/encoding/character-codes.ts'
import { type FieldType, maxFields, ReadFault } from '../reader.ts'
import type { DateOrder, DecimalMark } from '../table-rules.ts'
import { readCompactDate, readLocalDate } from './local-dates.ts'
import { plainDigits, readYesOrNo } from './local-numbers.ts'
import { isNullWord } from './null-words.ts'
import { plainDecimal } from './numeric-binary.ts'
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
  /** 46.951: three decimals, or thousands. */
  pointThree: 1 << 13,
  /** 46,951: three decimals, or thousands. */
  commaThree: 1 << 14,
  /** Groups of thousands that leave only a point for decimals: 1,234.5 or 1,234,567. */
  groupPoint: 1 << 15,
  /** Groups of thousands that leave only a comma for decimals: 1.234,5 or 1.234.567. */
  groupComma: 1 << 16,
  /** Groups of thousands that leave both: 1'234. */
  groupOnly: 1 << 17,
  /** A number in groups has decimals. */
  fraction: 1 << 18,
  /** 31.01.2024 */
  dayFirst: 1 << 19,
  /** 01/31/2024 */
  monthFirst: 1 << 20,
  /** 01.02.2024 */
  dayOrMonth: 1 << 21,
  /** "Jan 31 2024", or a date in the order that the client gave. */
  sureDate: 1 << 22,
  /** 20240131 in a column that is called a date. */
  compactDate: 1 << 23,
  /** A date that is not of ISO 8601 has a time. */
  localTime: 1 << 24,
  yes: 1 << 25,
  no: 1 << 26,
  /** Groups with plain blanks and no decimals: 123 456 789 may be a number of a telephone or a company. */
  blankGroups: 1 << 27,
  /** N/A and its like, which is null among numbers, dates and truths. */
  nullWord: 1 << 28,
  /** "9007199254740993": JSON has an integer as text where a double would be another one. */
  quotedInteger: 1 << 29,
  /** A decimal that a double cannot hold; in JSON it is a text, too. */
  longDecimal: 1 << 30,
} as const

/** Kinds of values that people write, and computers do not. */
export const localKinds = 0xfffffff & ~0x1fff

const { int4, int8, huge, inexact, float, comma, quotedInteger, longDecimal } = kind

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
  [int4 | int8 | inexact | quotedInteger, 0, 'bigint'],
  [int4 | int8 | huge | float, float, 'number'],
  [int4 | int8 | huge | inexact | float | quotedInteger | longDecimal, quotedInteger | longDecimal, 'numeric'],
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

const longDigits = /^-?(?:0|[1-9]\d{0,999})(?:\.\d{1,999})?$/
/** Shorter ones are exact as doubles. */
const exactDigits = 15

/** The kinds of a string in a file of JSON, where programs write numbers as text that a double cannot hold, as our own exports do. */
export function kindsOfJsonString(text: string): number {
  if (text.length <= exactDigits || !longDigits.test(text)) return kindsOfString(text)
  if (text.includes('.')) return isExact(text) ? kind.text : longDecimal
  const kinds = kindsOfInteger(text)
  return kinds & inexact || !Number.isSafeInteger(Number(text))
    ? kinds & huge
      ? longDecimal
      : quotedInteger
    : kind.text
}

/** The text is that of its double, but for zeros at the end. */
const isExact = (text: string): boolean =>
  plainDecimal(String(Number(text))) === text.replace(/0+$/, '').replace(/\.$/, '')

const numberText = /^-?(0|[1-9]\d*)(?:([.,])\d+)?(?:[eE][+-]?\d{1,3})?$/
/** GDAL writes decimals below 1 without the zero in some formats. */
const bareFraction = /^-?\.\d+$/

/** How cells are read. */
export type CellCustoms = {
  /** A comma may stand before decimals. */
  readonly hasDecimalComma?: boolean
  readonly dateOrder?: DateOrder | undefined
  readonly decimal?: DecimalMark | undefined
  /** Given by the client: no other text is null. */
  readonly nulls?: readonly string[] | undefined
}

/** The kinds of a cell of CSV and its like, where all is text; an empty one says nothing. `007` and `+5` stay text. */
export function kindsOfText(text: string, customs: CellCustoms = {}, isDateColumn = false): number {
  if (text === '') return kind.none
  if (customs.nulls === undefined && isNullWord(text)) return kind.nullWord
  const first = text.charCodeAt(0)
  if (isDigit(first) || first === minus || first === period) {
    if (isDateColumn && readCompactDate(text)) return kind.compactDate
    return kindsOfNumberText(text, customs)
  }
  return text.length <= 5 && /^(true|false)$/i.test(text) ? kind.boolean : kindsOfWords(text, customs)
}

/** The kinds of a text that may be a date or a truth by the customs of some country. */
function kindsOfWords(text: string, { dateOrder }: CellCustoms): number {
  const truth = readYesOrNo(text)
  if (truth !== undefined) return truth ? kind.yes : kind.no
  const date = /\d/.test(text) ? readLocalDate(text, dateOrder) : undefined
  if (!date) return kind.text
  return dateKinds[date.order] | (date.temporal.kind === 'timestamp' ? kind.localTime : 0)
}

const dateKinds = {
  dmy: kind.dayFirst,
  mdy: kind.monthFirst,
  either: kind.dayOrMonth,
  sure: kind.sureDate,
} as const

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
  // Longer ones may have more digits than a double.
  if (at !== text.length || at <= point + 1 || at > exactDouble + 2) return kind.none
  return mayBeThousands(point - start, at - point - 1, text.charCodeAt(start)) ? kind.pointThree : float
}

/** Whether a number of so many digits before and behind a point or comma may be thousands: 46.951, but not 0.951 or 1234.567. */
export const mayBeThousands = (whole: number, behind: number, first: number): boolean =>
  behind === 3 && whole <= 3 && first !== zero

function kindsOfNumberText(text: string, customs: CellCustoms): number {
  const plain = kindsOfPlainNumber(text)
  if (plain !== kind.none) return plain
  if (text.length <= 10 && dateShape.test(text)) return kindsOfWords(text, customs)
  const match = numberText.exec(text)
  if (!match) return bareFraction.test(text) ? float : kindsOfLocalNumber(text, customs)
  if (match[2] === ',') return kindsOfComma(text, customs)
  if (match[2] === undefined && match[0].length === (match[1]?.length ?? 0) + (text[0] === '-' ? 1 : 0))
    return kindsOfInteger(text)
  return Number.isFinite(Number(text)) ? (isLongDecimal(text) ? longDecimal : float) : kind.text
}

/** So many digits a double may need; more say more, unless they are those of the double itself, written out. */
const exactDouble = 17

function isLongDecimal(text: string): boolean {
  if (text.length <= exactDouble + 1 || /e/i.test(text)) return false
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const digits = `${whole}${fraction}`.replace(/^0+|0+$/g, '')
  if (digits.length <= exactDouble || fraction.length > 100) return false
  const number = Number(text)
  return Math.abs(number) >= 1e21 || number.toFixed(fraction.length) !== text
}

/** No number looks so: to ask at once makes columns of such dates a third faster. */
const dateShape = /^\d{1,2}[./-]\d{1,2}[./-]\d{4}$/

/** A comma parts the columns of most files: there 1,5 may be a list. */
function kindsOfComma(text: string, { hasDecimalComma = false, decimal }: CellCustoms): number {
  const [whole = '', behind = ''] = text.replace('-', '').split(',')
  const isThousands = mayBeThousands(whole.length, behind.length, whole.charCodeAt(0))
  if (isThousands && (decimal !== undefined || !hasDecimalComma)) return kind.commaThree
  return hasDecimalComma || decimal === ',' ? comma : kind.text
}

function kindsOfLocalNumber(text: string, customs: CellCustoms): number {
  const [byPoint, byComma] = [plainDigits(text, '.'), plainDigits(text, ',')]
  const digits = byPoint ?? byComma
  // Digits in no groups are a number that begins with a zero, or one with a sign.
  if (digits === undefined || /^-?\d+([.,]\d+)?$/.test(text)) return kindsOfDateText(text, customs)
  if (isAddress(text)) return kind.text
  if (/^-?\d+( \d{3})+$/.test(text)) return kind.blankGroups | kindsOfInteger(digits)
  const group = byPoint === undefined ? kind.groupComma : byComma === undefined ? kind.groupPoint : kind.groupOnly
  return group | (digits.includes('.') ? kind.fraction : kindsOfInteger(digits))
}

/** 192.168.100.200 is of the internet. */
const isAddress = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255)

function kindsOfDateText(text: string, customs: CellCustoms): number {
  const plain = kindsOfString(text)
  return plain === kind.text ? kindsOfWords(text, customs) : plain
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

/** The same, with dates and truths that people wrote: numbers in text stay text, as whoever wrote them could have written numbers. */
export function kindsOfLoose(value: unknown, customs: CellCustoms, isDateColumn: boolean): number {
  if (isDateColumn && typeof value !== 'object' && readCompactDate(String(value))) return kind.compactDate
  if (typeof value !== 'string') return kindsOfValue(value)
  const plain = value === '' ? kind.text : kindsOfString(value)
  if (plain !== kind.text) return plain
  return customs.nulls === undefined && isNullWord(value) ? kind.nullWord : kindsOfWords(value, customs)
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
