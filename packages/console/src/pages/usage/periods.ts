/** The days or months of a chart. The server counts days of UTC, and leaves out those without use. */
import type { Usage } from '@graticule/client'
import { spans, type UsageSpan } from './usage-search.ts'

export type Counts = Usage['today']
export type Period = Usage['periods'][number]

export interface UsageRequest {
  from: string
  to: string
  interval: 'day' | 'month'
}

const dayMs = 86_400_000
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)

export function periodsOf(span: UsageSpan, now: number): UsageRequest {
  const to = dayOf(now)
  if (span !== 'year') return { from: dayOf(now - (spans[span] - 1) * dayMs), to, interval: 'day' }
  const [year = 0, month = 1] = to.split('-').map(Number)
  return { from: dayOf(Date.UTC(year, month - spans.year, 1)), to, interval: 'month' }
}

/** Every day or month that was asked for; those that the server left out count nothing. */
export function wholePeriods({ from, to, interval }: UsageRequest, periods: readonly Period[]): Period[] {
  const byStart = new Map(periods.map((period) => [period.start, period]))
  return startsOf(from, to, interval).map((start) => byStart.get(start) ?? { start, ...noCounts })
}

function startsOf(from: string, to: string, interval: UsageRequest['interval']): string[] {
  const starts: string[] = []
  const next = new Date(from)
  const last = new Date(to)
  while (next <= last) {
    starts.push(dayOf(next.getTime()))
    if (interval === 'day') next.setUTCDate(next.getUTCDate() + 1)
    else next.setUTCMonth(next.getUTCMonth() + 1)
  }
  return starts
}

const noCounts: Counts = {
  requests: 0,
  refused: 0,
  bytesOut: 0,
  tilesCached: 0,
  tilesMade: 0,
  tileSeconds: 0,
  queries: 0,
  querySeconds: 0,
  uploads: 0,
  invocations: 0,
  messages: 0,
  mails: 0,
}

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const months = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** 16 Nov, or Nov 2026. */
export const periodLabel = (start: string, interval: UsageRequest['interval']): string =>
  (interval === 'day' ? days : months).format(new Date(start))
