// Histograms of dates and times, whose bins begin where a year, a month, a day or an hour does, in UTC.
import { invalid } from '../../../kernel/errors.ts'

export const calendarUnits = ['year', 'month', 'day', 'hour'] as const
export type CalendarUnit = (typeof calendarUnits)[number]

/** A bin is so many months long, or so many milliseconds. */
type Step = { readonly months: number } | { readonly ms: number; readonly origin: number }

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** 1970-01-01 was a Thursday, and weeks begin on Mondays. */
const firstMonday = 4 * dayMs

const steady = (ms: number, origin = 0): Step => ({ ms, origin })
const months = (count: number): Step => ({ months: count })

const units: Readonly<Record<CalendarUnit, Step>> = {
  year: months(12),
  month: months(1),
  day: steady(dayMs),
  hour: steady(hourMs),
}

/** From days on; times have the shorter ones before them. */
const dateSteps: readonly Step[] = [
  units.day,
  steady(7 * dayMs, firstMonday),
  ...[1, 3, 6].map(months),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000].map((years) => months(12 * years)),
]
const timeSteps: readonly Step[] = [
  ...[1, 5, 15, 30].map((count) => steady(count * secondMs)),
  ...[1, 5, 15, 30].map((count) => steady(count * minuteMs)),
  ...[1, 3, 6, 12].map((count) => steady(count * hourMs)),
  ...dateSteps,
]

/** The most bins of a unit that was asked for. */
export const maxCalendarBins = 1_000

export type CalendarBins = {
  readonly count: number
  /** The bin of a time in milliseconds since 1970. */
  indexOf(at: number): number
  /** Where a bin begins, in milliseconds; that of `count` is where the last one ends. */
  edge(index: number): number
}

/** The bins from `low` to `high`: of the unit, or else of the shortest step that needs no more than `most`. */
export function calendarBins(
  type: 'date' | 'datetime',
  { low, high }: { readonly low: number; readonly high: number },
  { unit, most }: { readonly unit: CalendarUnit | undefined; readonly most: number },
): CalendarBins {
  if (unit !== undefined) {
    const bins = binsOf(units[unit], low, high)
    if (bins.count > maxCalendarBins) throw tooMany(unit, bins.count)
    return bins
  }
  const candidates = (type === 'date' ? dateSteps : timeSteps).map((step) => binsOf(step, low, high))
  const fitting = candidates.find(({ count }) => count <= most)
  // One bin may be asked for, and two years may lie on both sides of every step.
  return fitting ?? { count: 1, indexOf: () => 0, edge: (index) => (index === 0 ? low : high) }
}

function binsOf(step: Step, low: number, high: number): CalendarBins {
  const [numberOf, edgeOf] =
    'months' in step
      ? [(at: number) => Math.floor(monthOf(at) / step.months), (number: number) => beginningOf(number * step.months)]
      : [(at: number) => Math.floor((at - step.origin) / step.ms), (number: number) => number * step.ms + step.origin]
  const first = numberOf(low)
  return {
    count: numberOf(high) - first + 1,
    indexOf: (at) => numberOf(at) - first,
    edge: (index) => edgeOf(first + index),
  }
}

/** Months since the year 0. */
function monthOf(at: number): number {
  const date = new Date(at)
  return 12 * date.getUTCFullYear() + date.getUTCMonth()
}

const beginningOf = (month: number): number => new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1)

function tooMany(unit: CalendarUnit, count: number): Error {
  const coarser = calendarUnits[calendarUnits.indexOf(unit) - 1]
  const instead = coarser ? `use ${coarser}, or narrow the rows down with filter or time` : 'use bins instead'
  return invalid('query/interval', `gives ${count} bins, and ${maxCalendarBins} is the most: ${instead}`)
}
