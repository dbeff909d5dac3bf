/** Dates as people write them in different countries: 31.01.2024, 01/31/2024, "Jan 31 2024", 20240131; with or without a time. */
import type { DateOrder } from '../table-rules.ts'
import { monthNamed } from './month-names.ts'
import { daysOf, microsOf, type Temporal } from './temporal.ts'

/** `order` is what the text itself tells: `either` where day and month may change places, `sure` where nothing can. */
export type LocalDate = { order: 'dmy' | 'mdy' | 'either' | 'sure'; temporal: Temporal }

const longest = 60
const time = String.raw`(?:(?:,?\s+|T)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?(?:\s*([ap])\.?m\.?)?)?`
const numeric = new RegExp(String.raw`^(\d{1,4})([./-])\s?(\d{1,2})\2\s?(\d{1,4})${time}$`, 'i')
const weekday = String.raw`(?:\p{L}{2,12}\.?,?\s+)?`
const ordinal = String.raw`(?:st|nd|rd|th|er|\.|º|°)?`
const dayFirst = new RegExp(
  String.raw`^${weekday}(\d{1,2})${ordinal}[\s-]*(?:de\s+|of\s+)?(\p{L}{3,12})\.?,?[\s-]*(?:de\s+)?(\d{4}|\d\d)${time}$`,
  'iu',
)
const monthFirst = new RegExp(
  String.raw`^${weekday}(\p{L}{3,12})\.?[\s-]+(\d{1,2})${ordinal},?[\s-]+(\d{4}|\d\d)${time}$`,
  'iu',
)
const compact = /^(\d{4})(\d\d)(\d\d)$/

/** Years of two digits, as PostgreSQL reads them. Only where the client gives an order: 01-02-03 may be anything. */
const fullYear = (year: number): number => (year < 70 ? 2000 + year : 1900 + year)

/** The date in a text, read in this order if one is given; undefined when it is none. */
export function readLocalDate(text: string, order?: DateOrder): LocalDate | undefined {
  if (text.length > longest) return undefined
  const found = numeric.exec(text)
  if (found) return readNumeric(found, order)
  const [, day = '', month = '', year = '', ...dayTime] = dayFirst.exec(text) ?? []
  if (day !== '') return readNamed([day, month, year], dayTime, order)
  const [, named = '', number = '', last = '', ...monthTime] = monthFirst.exec(text) ?? []
  return named === '' ? undefined : readNamed([number, named, last], monthTime, order)
}

/** The date in eight digits, such as 20240131; undefined when they are none of these centuries. */
export function readCompactDate(text: string): Temporal | undefined {
  const [, year, month, day] = compact.exec(text) ?? []
  const isLikely = Number(year) >= 1800 && Number(year) < 2200
  return isLikely ? moment(Number(year), Number(month), Number(day), []) : undefined
}

function readNamed(
  [day, name, year]: readonly [string, string, string],
  rest: readonly (string | undefined)[],
  order: DateOrder | undefined,
): LocalDate | undefined {
  const month = monthNamed(name)
  if (month === undefined || (year.length < 4 && order === undefined)) return undefined
  const whole = year.length < 4 ? fullYear(Number(year)) : Number(year)
  const temporal = moment(whole, month, Number(day), rest)
  return temporal && { order: 'sure', temporal }
}

function readNumeric(found: RegExpExecArray, order: DateOrder | undefined): LocalDate | undefined {
  const [, a = '', , b = '', c = '', ...rest] = found
  if (a.length === 4) {
    const temporal = c.length <= 2 ? moment(Number(a), Number(b), Number(c), rest) : undefined
    return temporal && { order: 'sure', temporal }
  }
  if (a.length === 3 || c.length === 3 || c.length === 1) return undefined
  if (c.length === 4 && order === 'ymd') return undefined
  if (order === undefined) return c.length === 4 ? readEither(Number(a), Number(b), Number(c), rest) : undefined
  const year = (digits: string): number => (digits.length === 4 ? Number(digits) : fullYear(Number(digits)))
  const inOrder = {
    dmy: [year(c), Number(b), Number(a)],
    mdy: [year(c), Number(a), Number(b)],
    ymd: [year(a), Number(b), Number(c)],
  } as const
  const temporal = moment(...inOrder[order], rest)
  return temporal && { order: 'sure', temporal }
}

function readEither(a: number, b: number, year: number, rest: readonly (string | undefined)[]): LocalDate | undefined {
  const [byDay, byMonth] = [moment(year, b, a, rest), moment(year, a, b, rest)]
  if (byDay && byMonth) return { order: 'either', temporal: byDay }
  if (byDay) return { order: 'dmy', temporal: byDay }
  return byMonth && { order: 'mdy', temporal: byMonth }
}

function moment(
  year: number,
  month: number,
  day: number,
  [hour, minute = '', second = '0', fraction = '', half]: readonly (string | undefined)[],
): Temporal | undefined {
  const days = daysOf(year, month, day)
  if (days === undefined || hour === undefined) return days === undefined ? undefined : { kind: 'date', days }
  const hours = half === undefined ? Number(hour) : hoursOfHalf(Number(hour), half)
  const micros = hours === undefined ? undefined : microsOf(String(hours), minute, second, fraction)
  return micros === undefined ? undefined : { kind: 'timestamp', days, micros }
}

/** 12 am is midnight, 12 pm noon. */
function hoursOfHalf(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > 12) return undefined
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}
