/** The default recipe of a layer, by geometry, attribute type and values. */

import type { AttributeStatistics, Dataset } from '@graticule/client'
import { type BreakMethod, computeBreaks, type Distribution } from './breaks.ts'
import { colouredCategories } from './classes.ts'
import type { RampName } from './palettes.ts'
import {
  type Attribute,
  type Categories,
  type Graduated,
  isNumeric,
  type LayerGeometryKind,
  type LayerRecipe,
  maxZoom,
  type Theme,
} from './recipe.ts'

/** More categories could not be distinguished. */
const maxCategories = 12
const maxNumberCategories = 8
const defaultClasses = 5

/** Default colours of single-colour layers, in the order of addition. */
const layerColours = ['#0b7285', '#d9480f', '#5f3dc4', '#2b8a3e', '#c2255c', '#e8930c', '#1864ab', '#846358']
const emptyColour = { light: '#b8b4ab', dark: '#565d66' }
const strokeColour = { light: '#ffffff', dark: '#12161d' }
const otherColour = { light: '#8d887d', dark: '#7d858f' }

export function geometryOf({ attributes }: Pick<Dataset, 'attributes'>): LayerGeometryKind | null {
  const geometry = attributes.find(({ type }) => type === 'geometry')
  if (!geometry) return null
  const kinds: [RegExp, LayerGeometryKind][] = [
    [/point/i, 'point'],
    [/line|curve/i, 'line'],
    [/polygon|surface/i, 'area'],
  ]
  const name = /collection/i.test(geometry.geometryType ?? '') ? '' : (geometry.geometryType ?? '')
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'mixed'
}

export interface NewLayer {
  id: string
  dataset: Pick<Dataset, 'id' | 'name' | 'attributes'>
  tilesId: string
  /** The number of existing layers. */
  index: number
  theme: Theme
}

export function defaultRecipe({ id, dataset, tilesId, index, theme }: NewLayer): LayerRecipe {
  const geometry = geometryOf(dataset) ?? 'mixed'
  const size = geometry === 'line' ? 2 : 4
  return {
    id,
    datasetId: dataset.id,
    tilesId,
    sourceLayer: 'geometry',
    name: dataset.name,
    geometry,
    isHidden: false,
    colour: { kind: 'one', colour: layerColours[index % layerColours.length] ?? '#0b7285' },
    size: { value: size, attribute: null, range: geometry === 'line' ? [1, 8] : [3, 20], domain: [0, 1] },
    opacity: geometry === 'area' || geometry === 'mixed' ? 0.75 : 0.9,
    stroke: { colour: strokeColour[theme], width: geometry === 'line' ? 0 : 0.75 },
    label: null,
    zoom: [0, maxZoom],
    conditions: [],
    texts: {},
  }
}

export type ColourKind = 'one' | 'categories' | 'graduated'

const isDate = ({ type }: Pick<Attribute, 'type'>): boolean => type === 'date' || type === 'datetime'

/** The kinds of colouring that suit an attribute, best first. */
export function colourKinds(statistics: AttributeStatistics): ColourKind[] {
  const distinct = statistics.distinct ?? Number.POSITIVE_INFINITY
  const hasCategories = statistics.frequent.length > 0
  const hasRange = (isNumeric(statistics.type) || isDate(statistics)) && statistics.count > 0
  if (hasRange) {
    const few = isNumeric(statistics.type) && distinct <= maxNumberCategories
    return few && hasCategories
      ? ['categories', 'graduated', 'one']
      : ['graduated', ...(hasCategories ? ['categories' as const] : []), 'one']
  }
  if (!hasCategories) return ['one']
  return distinct <= maxCategories ? ['categories', 'one'] : ['one', 'categories']
}

/** Converts dates to milliseconds and numeric strings to numbers. */
export function numberOf(value: unknown, type: Attribute['type']): number {
  if (typeof value === 'number') return value
  if (value === null || value === undefined) return Number.NaN
  return type === 'date' || type === 'datetime' ? Date.parse(String(value)) : Number(value)
}

/** The attribute's range with a sample of its values, or with its quantiles if there is no sample yet. */
export function distributionOf(statistics: AttributeStatistics, sample?: readonly number[]): Distribution {
  const { type, min, max, quantiles } = statistics
  return {
    min: numberOf(min, type),
    max: numberOf(max, type),
    values: sample && sample.length > 0 ? sample : quantiles.map(({ value }) => numberOf(value, type)),
  }
}

export function defaultGraduated(statistics: AttributeStatistics, distribution: Distribution, theme: Theme): Graduated {
  const method: Exclude<BreakMethod, 'manual'> = isDate(statistics) ? 'equal' : 'natural'
  const { min, max } = distribution
  // Diverging if the range contains zero.
  const ramp: RampName = min < 0 && max > 0 && !isDate(statistics) ? 'RdBu' : 'YlGnBu'
  return {
    kind: 'graduated',
    attribute: statistics.attribute,
    isDate: isDate(statistics),
    method,
    classes: defaultClasses,
    breaks: breaksFor(method, defaultClasses, distribution, isDate(statistics)),
    min,
    max,
    ramp,
    isReversed: false,
    own: {},
    nullColour: emptyColour[theme],
    hasNulls: statistics.nulls > 0,
  }
}

/** Breaks of dates are moved to midnight. */
export function breaksFor(
  method: Exclude<BreakMethod, 'manual'>,
  classes: number,
  distribution: Distribution,
  isOfDates: boolean,
): number[] {
  const { breaks } = computeBreaks(method, classes, distribution)
  const dayMs = 86_400_000
  if (!isOfDates || distribution.max - distribution.min < classes * dayMs) return breaks
  return [...new Set(breaks.map((value) => Math.round(value / dayMs) * dayMs))].filter(
    (value) => value > distribution.min,
  )
}

export function defaultCategories(statistics: AttributeStatistics, theme: Theme): Categories {
  const values = statistics.frequent.slice(0, maxCategories).map(({ value }) => value)
  // Categories are sorted by value, not by frequency, so that they are easy to find.
  const ordered = values.toSorted((a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : 0))
  const ramp: RampName = ordered.length > 8 ? 'Paired' : 'Dark2'
  return {
    kind: 'categories',
    attribute: statistics.attribute,
    categories: colouredCategories(ordered, { ramp, isReversed: false }, theme),
    ramp,
    isReversed: false,
    otherColour: otherColour[theme],
    others: Math.max((statistics.distinct ?? values.length) - values.length, 0),
    nullColour: emptyColour[theme],
    hasNulls: statistics.nulls > 0,
  }
}

/** Adapts a layer to a base map of another theme: default colours change, chosen ones stay. */
export function rethemed(recipe: LayerRecipe, from: Theme, to: Theme): LayerRecipe {
  const moved = (colour: string, defaults: Record<Theme, string>) => (colour === defaults[from] ? defaults[to] : colour)
  const { colour, stroke } = recipe
  return {
    ...recipe,
    stroke: { ...stroke, colour: moved(stroke.colour, strokeColour) },
    colour: {
      ...colour,
      ...('nullColour' in colour && { nullColour: moved(colour.nullColour, emptyColour) }),
      ...('otherColour' in colour && { otherColour: moved(colour.otherColour, otherColour) }),
    },
  }
}
