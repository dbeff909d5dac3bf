/** The axis and the bins of a histogram. Skewed values get a logarithmic axis. */
import type { Distribution } from '@graticule/map/recipe'

export interface Axis {
  isLogarithmic: boolean
  /** 0 at the minimum, 1 at the maximum. */
  shareOf(value: number): number
  valueAt(share: number): number
}

/** If the median is below this share of the range, a linear axis would show little more than one bar. */
const skewedShare = 0.05

export function axisOf({ min, max, values }: Distribution): Axis {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? (min + max) / 2
  const width = max - min || 1
  if (min <= 0 || (middle - min) / width > skewedShare) {
    return { isLogarithmic: false, shareOf: (value) => (value - min) / width, valueAt: (share) => min + share * width }
  }
  const factor = Math.log(max / min) || 1
  return {
    isLogarithmic: true,
    shareOf: (value) => Math.log(Math.max(value, min) / min) / factor,
    valueAt: (share) => min * Math.exp(share * factor),
  }
}

/** Counts the values in bins of equal width. */
export function binsOf(values: readonly number[], axis: Axis, count: number): number[] {
  const bins = new Array<number>(count).fill(0)
  for (const value of values) {
    const index = Math.min(Math.max(Math.floor(axis.shareOf(value) * count), 0), count - 1)
    bins[index] = (bins[index] ?? 0) + 1
  }
  return bins
}

/** Rounds a dragged break to the number with the fewest digits within 0.5 % of the axis. */
export function roundedAt(axis: Axis, share: number): number {
  const value = axis.valueAt(share)
  const room = Math.abs(axis.valueAt(share + 0.005) - axis.valueAt(share - 0.005))
  if (!(room > 0)) return value
  const step = 10 ** Math.floor(Math.log10(room))
  return Number((Math.round(value / step) * step).toPrecision(12))
}
