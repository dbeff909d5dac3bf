// Cells as the values that binary formats hold.
import { ApiError } from '../../../kernel/errors.ts'
import type { ExportColumn } from './export-order.ts'

/** So many digits of a decimal survive in a double. */
const exactDigits = 15

/** The number has more digits than a double keeps, so formats without decimals write it as text. */
export const isLongDecimal = ({ type, decimal }: ExportColumn): boolean =>
  type === 'number' && decimal !== undefined && decimal.precision > exactDigits

const [leastInt64, largestInt64] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Throws for an integer beyond 64 bits, which no binary format has. */
export function int64Of(cell: string): bigint {
  const value = BigInt(cell)
  if (value >= leastInt64 && value <= largestInt64) return value
  throw new ApiError('invalid_request', `The integer ${cell} is beyond 64 bits. Use format=csv, json or ndjson.`)
}

/** PostgreSQL writes `Infinity`, `-Infinity` and `NaN`, as JavaScript does. */
export const doubleOf = (cell: string): number => Number(cell)

/** PostgreSQL's dates and datetimes may be infinite; no binary format has such a one. */
export const isInfinite = (cell: string): boolean => /^-?infinity$/i.test(cell)

const unixEpochDays = 719_468

/** Days since 1970-01-01 of the proleptic Gregorian calendar; years before Christ end with ` BC`. */
export function daysOf(cell: string): number {
  const [, era = '', year = '', month = '', day = ''] = /^(-?)(\d+)-(\d\d)-(\d\d)/.exec(cell) ?? []
  const isBeforeChrist = cell.endsWith('BC')
  const signed = isBeforeChrist ? 1 - Number(year) : Number(`${era}${year}`)
  return daysFromCivil(signed, Number(month), Number(day))
}

/** The years of this count begin in March, so that the day of a leap year comes last. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - unixEpochDays
}

const microsPerDay = 86_400_000_000n

/** Microseconds of a time of day, `10:20:30.5`. */
export function timeMicrosOf(cell: string): bigint {
  const [, hours = '0', minutes = '0', seconds = '0', fraction = ''] =
    /(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?/.exec(cell) ?? []
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  return BigInt(whole) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}

/** Microseconds since 1970 of a datetime, `2026-01-31T10:00:00.5Z`; its zone is UTC or none. */
export const datetimeMicrosOf = (cell: string): bigint =>
  BigInt(daysOf(cell)) * microsPerDay + timeMicrosOf(cell.slice(cell.search(/[T ]/)))

export const bytesOf = (cell: string): Buffer => Buffer.from(cell, 'base64')
