/** What the charts show: each has the counters that are stacked in its bars, and those that only its table has. */
import { formatBytes, formatDuration, formatNumber } from '../../format.ts'
import type { Counts, Period } from './periods.ts'

export interface Series {
  label: string
  of(counts: Counts): number
  format(value: number): string
}

export interface Measure {
  title: string
  /** In the sentence about what was not used. */
  noun: string
  bars: readonly Series[]
  /** Columns of the table only. */
  further?: readonly Series[]
}

const count = (label: string, of: (counts: Counts) => number): Series => ({ label, of, format: formatNumber })
const seconds = (label: string, of: (counts: Counts) => number): Series => ({ label, of, format: formatDuration })

export const measures: readonly Measure[] = [
  {
    title: 'Requests',
    noun: 'requests',
    bars: [
      count('Answered', ({ requests, refused }) => Math.max(requests - refused, 0)),
      count('Over a limit', ({ refused }) => refused),
    ],
  },
  {
    title: 'Data sent',
    noun: 'data sent',
    bars: [{ label: 'Data sent', of: ({ bytesOut }) => bytesOut, format: formatBytes }],
  },
  {
    title: 'Tiles',
    noun: 'tiles',
    bars: [count('From memory', ({ tilesCached }) => tilesCached), count('Made', ({ tilesMade }) => tilesMade)],
    further: [seconds('Making them took', ({ tileSeconds }) => tileSeconds)],
  },
  {
    title: 'Queries',
    noun: 'queries',
    bars: [count('Queries', ({ queries }) => queries)],
    further: [seconds('They took', ({ querySeconds }) => querySeconds)],
  },
  { title: 'Uploads', noun: 'uploads', bars: [count('Files taken', ({ uploads }) => uploads)] },
  {
    title: 'Agents',
    noun: 'invocations of agents',
    bars: [count('Invocations', ({ invocations }) => invocations)],
  },
  {
    title: 'Messages and mails',
    noun: 'messages and mails',
    bars: [count('Messages', ({ messages }) => messages), count('Mails', ({ mails }) => mails)],
  },
]

export const sumOf = (of: (counts: Counts) => number, periods: readonly Period[]): number =>
  periods.reduce((sum, period) => sum + of(period), 0)

/** All series of the bars together. */
export const whole =
  ({ bars }: Measure) =>
  (counts: Counts): number =>
    bars.reduce((sum, { of }) => sum + of(counts), 0)

/** The end of an axis: 1, 2, 5, 10, 20 … that is not below the value. */
export function axisEnd(most: number): number {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return (axisSteps.find((step) => step * power >= most) ?? 10) * power
}

const axisSteps = [1, 2, 5, 10]
