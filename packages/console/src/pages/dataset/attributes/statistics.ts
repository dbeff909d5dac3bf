/** Texts and bars for the statistics of an attribute. */
import type { AttributeStatistics } from '@graticule/client'
import { formatNumber } from '../../../format.ts'

export interface Bar {
  label: string
  count: number
  /** Relative to the largest: 0 to 1. */
  share: number
}

const mostFrequent = 10

/** "4 442 values, none missing, 171 different. All rows were read." */
export function sourceSentence({ rows, count, nulls, distinct, sampled, sampleSize }: AttributeStatistics): string {
  const about = sampled || rows.isEstimate ? 'about ' : ''
  const parts = [
    `${rows.isEstimate ? 'About ' : ''}${formatNumber(count)} ${count === 1 ? 'value' : 'values'}`,
    nulls === 0 ? 'none missing' : `${formatNumber(nulls)} missing`,
    distinct === null ? '' : `${about}${formatNumber(distinct)} different`,
  ]
  const source = sampled ? ` Spread and frequency are from a sample of ${formatNumber(sampleSize)} rows.` : ''
  return `${parts.filter(Boolean).join(', ')}.${source}`
}

const quantileLabels = new Map([
  [0.25, 'first quarter'],
  [0.5, 'median'],
  [0.75, 'third quarter'],
])

/** Minimum, quartiles, maximum and mean, as available. */
export function spreadOf({
  min,
  max,
  mean,
  quantiles,
}: AttributeStatistics): { label: string; value: string | number }[] {
  const inner = quantiles.flatMap(({ p, value }) => {
    const label = quantileLabels.get(p)
    return label ? [{ label, value }] : []
  })
  return [
    ...(min === null ? [] : [{ label: 'least', value: min }]),
    ...inner,
    ...(max === null ? [] : [{ label: 'greatest', value: max }]),
    ...(mean === null ? [] : [{ label: 'mean', value: mean }]),
  ]
}

export const histogramBars = ({ histogram }: AttributeStatistics, show: (value: unknown) => string): Bar[] =>
  barsOf(histogram.map(({ from, to, count }) => ({ label: `${show(from)} – ${show(to)}`, count })))

/** Empty if every value occurs once. */
export function frequentBars({ frequent }: AttributeStatistics, show: (value: unknown) => string): Bar[] {
  if (!frequent.some(({ count }) => count > 1)) return []
  const shown = frequent.slice(0, mostFrequent)
  return barsOf(shown.map(({ value, count }) => ({ label: value === '' ? '(empty text)' : show(value), count })))
}

function barsOf(bars: readonly { label: string; count: number }[]): Bar[] {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return bars.map(({ label, count }) => ({ label, count, share: count / most }))
}
