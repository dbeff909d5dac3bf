/**
 * Finds the attribute that a map is best coloured by: a measure with spread, else a category of few values. Keys, codes,
 * coordinates, constants and what is nearly empty say nothing on a map, whatever their statistics look like.
 */
import type { AttributeStatistics, Dataset } from '@graticule/client'
import { isNumeric, numberOf } from '@graticule/map/recipe'
import {
  isAmountName,
  isBookkeeping,
  isIdentifier,
  isKindName,
  isMeasuredGeometry,
  isMeasureName,
  isPosition,
  isTitleLike,
  isYear,
} from './attribute-names.ts'

type Attribute = Dataset['attributes'][number]

/** How a dataset is drawn. */
export interface DatasetLook {
  /** The attribute that colours features; null: one colour. */
  readonly colour: string | null
  /** The attribute that sizes points; null: one size. */
  readonly size: string | null
  readonly isHeat: boolean
}

export const plainLook: DatasetLook = { colour: null, size: null, isHeat: false }

const types = new Set<Attribute['type']>(['integer', 'number', 'string', 'boolean', 'date', 'datetime'])

export const isUsable = ({ type, primaryKey }: Attribute): boolean => types.has(type) && !primaryKey

/** The attributes worth asking statistics of, most promising first. */
export function promisingAttributes(attributes: readonly Attribute[], most: number): Attribute[] {
  const rank = ({ name, type }: Attribute): number => {
    if (isMeasureName(name) && isNumeric(type)) return 0
    if (type === 'number') return 1
    if (isKindName(name)) return 2
    return isNumeric(type) && !isYear(name) ? 3 : 4
  }
  return attributes
    .filter((attribute) => isUsable(attribute) && !isHopeless(attribute))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, most)
}

const isHopeless = ({ name, type }: Attribute): boolean =>
  isPosition(name) || isIdentifier(name) || isBookkeeping(name) || (type === 'string' && isTitleLike(name))

/** Measures are above 1, categories between 0.5 and 1, the rest below; 0 tells nothing. */
function tellingScore(statistics: AttributeStatistics): number {
  const { attribute, type, count, nulls, distinct } = statistics
  const filled = count / Math.max(1, count + nulls)
  if (filled < leastFilled || (distinct !== null && distinct < 2)) return 0
  if (isHopeless({ name: attribute, type } as Attribute)) return 0
  const score = isNumeric(type)
    ? ofNumbers(statistics)
    : type === 'string' || type === 'boolean'
      ? ofTexts(statistics)
      : dates
  return score * (0.5 + filled / 2)
}

const leastFilled = 0.2
const weak = 0.2
const dates = 0.15
const codes = 0.4

function ofNumbers(statistics: AttributeStatistics): number {
  const { attribute, type, count, distinct } = statistics
  const values = statistics.quantiles.map(({ value }) => numberOf(value, type)).filter(Number.isFinite)
  const different = new Set(values).size
  if (values.length === 0 || different < 2) return 0
  if (isMeasuredGeometry(attribute) || isYear(attribute)) return weak
  const isInteger = type === 'integer'
  if (isInteger && isYears(values)) return weak
  if (isInteger && !isMeasureName(attribute)) {
    if (distinct !== null && distinct <= fewValues) return codes
    // As many values as rows, evenly spread: a number that each row was given.
    if (distinct !== null && distinct >= count * 0.98 && count > fewValues && isEven(values)) return 0
  }
  return 1 + 0.5 * (different / values.length) + (isMeasureName(attribute) ? 0.5 : 0)
}

const fewValues = 8
const isYears = (values: readonly number[]): boolean => values.every((value) => value >= 1500 && value <= 2100)

/** Whether quantiles lie on a straight line, as those of running numbers do and those of measures do not. */
function isEven(values: readonly number[]): boolean {
  const [least = 0, most = 0] = [values[0], values.at(-1)]
  const range = most - least
  return values.every((value, index) => Math.abs((value - least) / range - index / (values.length - 1)) < 0.08)
}

const mostCategories = 12

function ofTexts({ attribute, count, distinct, frequent }: AttributeStatistics): number {
  const different = distinct ?? Number.POSITIVE_INFINITY
  if (frequent.length === 0 || different > count * 0.5) return 0
  const all = frequent.reduce((sum, { count: many }) => sum + many, 0)
  const top = frequent.slice(0, mostCategories).reduce((sum, { count: many }) => sum + many, 0)
  // Of many values the frequent ones must make up most of the map.
  if (different > mostCategories && (different > 60 || top < all * 0.75)) return 0
  const balance = evenness(frequent.slice(0, mostCategories).map(({ count: many }) => many / all))
  const base = different > mostCategories ? 0.5 : 0.6
  return base + 0.15 * balance + (isKindName(attribute) ? 0.2 : 0)
}

/** The entropy, from 0 (one value has all) to 1 (all have as many). */
function evenness(shares: readonly number[]): number {
  const entropy = shares.reduce((sum, share) => (share > 0 ? sum - share * Math.log(share) : sum), 0)
  return shares.length < 2 ? 0 : entropy / Math.log(shares.length)
}

const leastScore = 0.15
/** From here on points cover each other, and their density is what a map shows. */
const denseRows = 5_000

export interface LookInput {
  readonly shape: 'point' | 'line' | 'area' | 'mixed'
  readonly rows: number | null
  /** In the order of the attributes. */
  readonly statistics: readonly AttributeStatistics[]
}

/** The look that tells most. */
export function suggestLook({ shape, rows, statistics }: LookInput): DatasetLook {
  const [best] = statistics
    .map((one) => ({ one, score: tellingScore(one) }))
    .filter(({ score }) => score >= leastScore)
    .toSorted((a, b) => b.score - a.score)
  const isDense = shape === 'point' && (rows ?? 0) >= denseRows
  if (!best) return { ...plainLook, isHeat: isDense }
  const { attribute } = best.one
  const isSized = shape === 'point' && !isDense && isAmount(best.one)
  return { colour: attribute, size: isSized ? attribute : null, isHeat: false }
}

/** None below zero, and the largest far above the others. */
function isAmount({ attribute, type, min, quantiles }: AttributeStatistics): boolean {
  if (!isNumeric(type) || !(numberOf(min, type) >= 0) || !isAmountName(attribute)) return false
  const at = (share: number) => numberOf(quantiles.find(({ p }) => p >= share)?.value, type)
  return at(1) > 1.5 * at(0.5)
}
