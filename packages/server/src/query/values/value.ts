// Canonical texts of scalar values, and their order.
import type { AttributeType, ScalarType } from './attribute.ts'

/** A decoded value. Two values of one type compare with `<`, except strings: see compareValues. */
export type Value = string | number | bigint | boolean

const int8Limit = 2n ** 63n
const integerText = /^[+-]?\d{1,40}$/
const decimalText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const decimalLength = 400
const dateText = /^(\d{4})-(\d\d)-(\d\d)$/
const timeText = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?$/
const zoneText = /(?:Z|([+-])(0\d|1[0-5])(?::?([0-5]\d))?)$/i
const uuidText = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const canonicals: { readonly [type in ScalarType]: (raw: unknown) => string | undefined } = {
  string: (raw) => (typeof raw === 'string' ? raw : Number.isSafeInteger(raw) ? String(raw) : undefined),
  integer: canonicalInteger,
  number: canonicalNumber,
  boolean: canonicalBoolean,
  date: (raw) => (typeof raw === 'string' && isCalendarDate(raw) ? raw : undefined),
  datetime: (raw) => (typeof raw === 'string' ? canonicalDatetime(raw) : undefined),
  time: (raw) => (typeof raw === 'string' ? canonicalTime(raw) : undefined),
  uuid: (raw) => (typeof raw === 'string' && uuidText.test(raw) ? raw.toLowerCase() : undefined),
}

export const isScalarType = (type: AttributeType): type is ScalarType => Object.hasOwn(canonicals, type)

/**
 * The canonical text of a value of this type, or undefined if `raw` is not one. Text from a query string and values
 * from JSON are treated alike. Datetimes are in UTC with six decimals, times have six decimals, so that text order is
 * time order; digits beyond microseconds are cut.
 */
export function canonicalText(type: ScalarType, raw: unknown): string | undefined {
  return canonicals[type](raw)
}

export function decodeValue(type: ScalarType, text: string): Value {
  if (type === 'integer') return BigInt(text)
  if (type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  return text
}

/** Negative, zero or positive. Strings compare by code point, which is PostgreSQL's COLLATE "C" in UTF-8. */
export function compareValues(a: Value, b: Value): number {
  if (a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

function canonicalInteger(raw: unknown): string | undefined {
  const isText = typeof raw === 'string' && integerText.test(raw)
  if (!isText && !(typeof raw === 'number' && Number.isInteger(raw))) return undefined
  const value = BigInt(typeof raw === 'string' ? raw.replace('+', '') : raw)
  return value >= -int8Limit && value < int8Limit ? String(value) : undefined
}

/** Limited to the range of a double, because PostgreSQL refuses to compare a double column with anything beyond. */
function canonicalNumber(raw: unknown): string | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? String(raw) : undefined
  if (typeof raw !== 'string' || raw.length > decimalLength || !decimalText.test(raw)) return undefined
  const value = Number(raw)
  if (value !== 0) return Number.isFinite(value) ? raw : undefined
  const isZero = !/[1-9]/.test(raw.replace(/e.*$/i, ''))
  return isZero ? '0' : undefined
}

function canonicalBoolean(raw: unknown): string | undefined {
  if (raw === true || raw === 'true' || raw === 1 || raw === '1') return 'true'
  if (raw === false || raw === 'false' || raw === 0 || raw === '0') return 'false'
  return undefined
}

function isCalendarDate(text: string): boolean {
  const [, year, month, day] = (dateText.exec(text) ?? []).map(Number)
  if (!year || !month || !day || month > 12) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const longest = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  return day <= longest
}

function canonicalTime(text: string): string | undefined {
  const match = timeText.exec(text)
  if (!match) return undefined
  const [, hour, minute, second = '00', fraction = ''] = match
  return `${hour}:${minute}:${second}.${fraction.slice(0, 6).padEnd(6, '0')}`
}

function canonicalDatetime(text: string): string | undefined {
  const date = text.slice(0, 10)
  const rest = text.slice(10)
  if (!isCalendarDate(date)) return undefined
  if (rest === '') return `${date}T00:00:00.000000Z`
  const zone = zoneText.exec(rest)
  const time = /^[T ]/i.test(rest) ? canonicalTime(rest.slice(1, zone?.index)) : undefined
  if (!time) return undefined
  const [, sign, hours = '0', minutes = '0'] = zone ?? []
  const offsetMinutes = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const instant = new Date(`${date}T${time.slice(0, 8)}Z`)
  instant.setUTCMinutes(instant.getUTCMinutes() - offsetMinutes)
  const utc = instant.toISOString()
  // A zone offset can move the time out of the four-digit years, and only those sort correctly as text.
  return /^(?!0000)\d{4}-/.test(utc) ? `${utc.slice(0, 19)}${time.slice(8)}Z` : undefined
}
