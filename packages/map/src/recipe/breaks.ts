/** Class breaks of numeric values, by the usual cartographic methods. */
import { naturalGroups } from './natural-groups.ts'

export const breakMethods = ['natural', 'quantile', 'equal', 'pretty', 'logarithmic', 'deviation', 'manual'] as const
export type BreakMethod = (typeof breakMethods)[number]

export const methodTexts: Record<BreakMethod, { label: string; hint: string }> = {
  natural: { label: 'Natural breaks', hint: 'Finds groups in the values. A good choice for most data.' },
  quantile: {
    label: 'Equal count',
    hint: 'The same number of features in every class. Shows ranks; hides how far apart values are.',
  },
  equal: { label: 'Equal interval', hint: 'Classes of the same width. Easy to read; best for evenly spread values.' },
  pretty: {
    label: 'Pretty (round numbers)',
    hint: 'Classes of the same width that begin at round numbers. The count may differ by one or two.',
  },
  logarithmic: {
    label: 'Logarithmic',
    hint: 'Each class is a multiple of the one before. For values from very small to very large.',
  },
  deviation: {
    label: 'Standard deviation',
    hint: 'How far values are from the mean. For values that gather around it.',
  },
  manual: { label: 'By hand', hint: 'Drag the lines in the histogram, or type the numbers.' },
}

export const minClasses = 2
export const maxClasses = 10

/** The data that breaks are computed from. */
export interface Distribution {
  min: number
  max: number
  /** A sample of the values, in any order. */
  values: readonly number[]
}

export interface Breaks {
  /** Strictly ascending, above the minimum and at most the maximum. */
  breaks: number[]
  /** Why there are fewer or other classes than requested. */
  note: string | null
}

/** Logarithmic breaks need positive values. */
export const isMethodPossible = (method: BreakMethod, { min }: Pick<Distribution, 'min'>): boolean =>
  method !== 'logarithmic' || min > 0

export function computeBreaks(
  method: Exclude<BreakMethod, 'manual'>,
  classes: number,
  distribution: Distribution,
): Breaks {
  const { min, max } = distribution
  const sorted = distribution.values.filter(Number.isFinite).toSorted((a, b) => a - b)
  const raw = max > min ? methods[method](classes, { min, max, values: sorted }) : []
  const breaks = tidyBreaks(method === 'logarithmic' ? raw.map(roundedToTwoDigits) : roundedToWidth(raw, min, max), {
    min,
    max,
  })
  return { breaks, note: method === 'pretty' ? null : noteOf(breaks.length + 1, classes) }
}

/** Sorted, without duplicates and within the range, as MapLibre's `step` requires. */
export const tidyBreaks = (breaks: readonly number[], { min, max }: { min: number; max: number }): number[] =>
  [...new Set(breaks.map((value) => value + 0))]
    .filter((value) => Number.isFinite(value) && value > min && value <= max)
    .toSorted((a, b) => a - b)

function noteOf(made: number, classes: number): string | null {
  if (made >= classes) return null
  const count = made === 1 ? 'one class' : `${made} classes`
  return `There are too few different values for ${classes} classes, so there ${made === 1 ? 'is' : 'are'} ${count}.`
}

const methods: Record<Exclude<BreakMethod, 'manual'>, (classes: number, distribution: Distribution) => number[]> = {
  natural: naturalBreaks,
  quantile: (classes, { values }) =>
    inner(classes).map((index) => values[Math.floor((index * values.length) / classes)] ?? Number.NaN),
  equal: (classes, { min, max }) => inner(classes).map((index) => min + ((max - min) * index) / classes),
  pretty: prettyBreaks,
  logarithmic: (classes, { min, max }) =>
    min > 0 ? inner(classes).map((index) => min * (max / min) ** (index / classes)) : [],
  deviation: deviationBreaks,
}

/** 1 … classes - 1 */
const inner = (classes: number): number[] => Array.from({ length: classes - 1 }, (_, index) => index + 1)

/** The number of classes is limited to that of distinct values. */
function naturalBreaks(classes: number, { values }: Distribution): number[] {
  const distinct = new Set(values).size
  if (distinct < 2) return []
  return naturalGroups(values, Math.min(classes, distinct)).map((start) => {
    const [last = Number.NaN, first = Number.NaN] = values.slice(start - 1, start + 1)
    // A break between two groups, rounded if a shorter number lies there. Equal values may be divided: such breaks are merged later.
    return first > last ? roundestBetween(last, first) : first
  })
}

/** The number with the fewest digits that is above `low` and at most `high`. */
function roundestBetween(low: number, high: number): number {
  for (let exponent = Math.ceil(Math.log10(high - low)) + 1; exponent > -16; exponent--) {
    const candidate = Math.floor(scaled(high, -exponent)) * 10 ** exponent
    if (candidate > low && candidate <= high) return cleaned(candidate)
  }
  return high
}

function prettyBreaks(classes: number, { min, max }: Distribution): number[] {
  const step = roundStep((max - min) / classes)
  const first = Math.floor(min / step) + 1
  const count = Math.ceil(max / step) - first
  return Array.from({ length: Math.max(count, 0) }, (_, index) => cleaned((first + index) * step))
}

/** 1, 2, 5 or 10 times a power of ten, whichever is nearest by ratio. */
function roundStep(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width))
  const multiple = width / power
  if (multiple < Math.SQRT2) return power
  if (multiple < Math.sqrt(10)) return 2 * power
  return (multiple < Math.sqrt(50) ? 5 : 10) * power
}

/** Classes one standard deviation wide, centred on the mean. */
function deviationBreaks(classes: number, { values }: Distribution): number[] {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0)
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2 / values.length, 0)
  return inner(classes).map((index) => mean + (index - classes / 2) * Math.sqrt(variance))
}

/** Rounds each break to two significant digits of the narrower adjacent class, which hardly moves it. */
function roundedToWidth(breaks: readonly number[], min: number, max: number): number[] {
  const ends = [min, ...breaks, max]
  return breaks.map((value, index) => {
    const width = Math.min(value - (ends[index] ?? min), (ends[index + 2] ?? max) - value)
    if (!(width > 0)) return value
    const exponent = Math.floor(Math.log10(width)) - 1
    return cleaned(Math.round(scaled(value, -exponent)) * 10 ** exponent)
  })
}

const roundedToTwoDigits = (value: number): number => Number(value.toPrecision(2))

/** Removes floating-point noise: 3 × 10 ** -1 is 0.30000000000000004. */
const cleaned = (value: number): number => Number(value.toPrecision(12))
const scaled = (value: number, exponent: number): number =>
  exponent < 0 ? value / 10 ** -exponent : value * 10 ** exponent
