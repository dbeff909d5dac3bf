import { minus, nine, slash, zero } from '../../../../query/geometry/encoding/character-codes.ts'

/** A date or time of ISO 8601 (or with slashes, as GDAL writes), counted as PostgreSQL does: from 2000-01-01. */
export type Temporal =
  | { kind: 'date'; days: number }
  | { kind: 'time'; micros: number }
  | { kind: 'timestamp' | 'timestamptz'; days: number; micros: number }

const pattern =
  /^(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/
const timePattern = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/
const dateBytes = new Uint8Array(10)
const dayMs = 86_400_000
const epochDays = Date.UTC(2000, 0, 1) / dayMs

/** Undefined for all that is not exactly such a date or time, 30 February and microsecond fractions too fine included. */
export function parseTemporal(text: string): Temporal | undefined {
  if (text.length < 8 || text.length > 35) return undefined
  if (text.length === 10 && text[4] === '-' && text[7] === '-') return parseDate(text)
  const match = pattern.exec(text)
  if (!match) return parseTime(text)
  const [, year = '', , month = '', day = '', hour, minute = '', second = '0', fraction = '', zone] = match
  const days = daysOf(Number(year), Number(month), Number(day))
  if (days === undefined) return undefined
  if (hour === undefined) return { kind: 'date', days }
  const micros = microsOf(hour, minute, second, fraction)
  const offset = zone === undefined ? 0 : offsetMinutes(zone)
  if (micros === undefined || offset === undefined) return undefined
  return { kind: zone === undefined ? 'timestamp' : 'timestamptz', days, micros: micros - offset * 60e6 }
}

function parseDate(text: string): Temporal | undefined {
  const bytes = dateBytes
  for (let at = 0; at < 10; at++) {
    const code = text.charCodeAt(at)
    if (code > nine) return undefined
    bytes[at] = code
  }
  const days = daysIn(bytes, 0, 10)
  return days === undefined ? undefined : { kind: 'date', days }
}

function parseTime(text: string): Temporal | undefined {
  const match = timePattern.exec(text)
  if (!match) return undefined
  const [, hour = '', minute = '', second = '', fraction = ''] = match
  const micros = microsOf(hour, minute, second, fraction)
  return micros === undefined ? undefined : { kind: 'time', micros }
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Days since 2000-01-01 in the calendar of PostgreSQL, which goes back to year 1. */
export function daysOf(year: number, month: number, day: number): number | undefined {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const length = month === 2 && isLeap ? 29 : (monthDays[month - 1] ?? 0)
  if (year === 0 || day === 0 || day > length) return undefined
  // Years that begin in March have the leap day at their end.
  const marchYear = month > 2 ? year : year - 1
  const marchMonth = (month + 9) % 12
  const yearDays =
    marchYear * 365 + Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400)
  return yearDays + Math.floor((marchMonth * 153 + 2) / 5) + day - 1 - 730425
}

/** The days of a date in these bytes; undefined for all else, dates with a time included. */
export function daysIn(bytes: Uint8Array, start: number, end: number): number | undefined {
  const separator = bytes[start + 4]
  if (end - start !== 10 || (separator !== minus && separator !== slash) || bytes[start + 7] !== separator)
    return undefined
  const year = digitsIn(bytes, start, 4)
  const month = digitsIn(bytes, start + 5, 2)
  const day = digitsIn(bytes, start + 8, 2)
  return year < 0 || month < 0 || day < 0 ? undefined : daysOf(year, month, day)
}

/** The number in so many digits; below 0 when one is none. */
function digitsIn(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) {
    const digit = (bytes[at] as number) - zero
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

export function microsOf(hour: string, minute: string, second: string, fraction: string): number | undefined {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)]
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  return ((hours * 60 + minutes) * 60 + seconds) * 1e6 + Number(fraction.padEnd(6, '0'))
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 14 || minutes > 59) return undefined
  return (hours * 60 + minutes) * (zone[0] === '-' ? -1 : 1)
}

/** A moment of JavaScript, as a timestamp. */
export function temporalOfDate(date: Date): { days: number; micros: number } {
  const days = Math.floor(date.getTime() / dayMs)
  return { days: days - epochDays, micros: (date.getTime() - days * dayMs) * 1000 }
}
