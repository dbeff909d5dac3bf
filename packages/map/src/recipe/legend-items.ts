/** The legend items of a recipe, in the user's number format. Classes that cannot occur are omitted. */
import { cellItems } from './cells-look.ts'
import { graduatedClasses } from './classes.ts'
import { cellColours } from './compile-far.ts'
import { heatColours, heatItems } from './heat-look.ts'
import type { Categories, FarRecipe, Graduated, LayerRecipe, Sizing, Theme } from './recipe.ts'

export interface RecipeLegendItem {
  /** The key of a custom text in the recipe. */
  key: string
  colour: string
  label: string
  shape: 'point' | 'line' | 'area'
  /** The diameter of a point or the width of a line. */
  size?: number
}

export interface RecipeLegend {
  id: string
  title: string
  items: RecipeLegendItem[]
}

/** What a map shows just now: what is far depends on its zoom. */
export interface SeenMap {
  readonly zoom: number
  /** The breaks of cells at this zoom. */
  breaksOf(recipe: LayerRecipe): readonly number[] | undefined
}

/** The legends of visible layers, topmost first. @defaultValue `locale` is the user's */
export const legendsOf = (
  layers: readonly LayerRecipe[],
  theme: Theme,
  locale?: string,
  seen?: SeenMap,
): RecipeLegend[] =>
  layers
    .filter(({ isHidden }) => !isHidden)
    .map((recipe) => ({ id: recipe.id, title: titleOf(recipe), items: legendItems(recipe, theme, locale, seen) }))

const titleOf = ({ texts, name }: LayerRecipe): string => texts.title ?? name

export function legendItems(recipe: LayerRecipe, theme: Theme, locale?: string, seen?: SeenMap): RecipeLegendItem[] {
  const shape = recipe.geometry === 'mixed' ? 'area' : recipe.geometry
  const { far } = recipe
  const isFar = far && (far.below === null || (seen !== undefined && seen.zoom < far.below))
  const items: Item[] = isFar
    ? farItems(recipe, far, theme, locale, seen?.breaksOf(recipe))
    : [...colourItems(recipe, theme, locale), ...sizeItems(recipe, locale)]
  return items.map((item) => ({ shape, ...item, label: recipe.texts[item.key] ?? item.label }))
}

function farItems(
  { name }: LayerRecipe,
  far: FarRecipe,
  theme: Theme,
  locale: string | undefined,
  breaks: readonly number[] | undefined,
): RecipeLegendItem[] {
  if (far.kind === 'heat') return heatItems(heatColours(far, theme))
  if (far.kind === 'clusters') return [{ key: 'one', colour: far.colour, label: name, shape: 'point' }]
  const known = breaks ?? far.breaks
  return cellItems(known, cellColours(far, known.length + 1, theme), locale)
}

type Item = Omit<RecipeLegendItem, 'shape'> & Partial<Pick<RecipeLegendItem, 'shape'>>

function colourItems({ colour, name, size }: LayerRecipe, theme: Theme, locale: string | undefined): Item[] {
  if (colour.kind === 'one') return size.attribute === null ? [{ key: 'one', colour: colour.colour, label: name }] : []
  const items = colour.kind === 'categories' ? categoryItems(colour, locale) : classItems(colour, theme, locale)
  return colour.hasNulls ? [...items, { key: 'null', colour: colour.nullColour, label: 'No value' }] : items
}

function categoryItems({ categories, others, otherColour }: Categories, locale: string | undefined): Item[] {
  const items = categories.map(({ value, colour }) => ({ key: `is ${value}`, colour, label: categoryLabel(value) }))
  if (others === 0) return items
  const count = new Intl.NumberFormat(locale).format(others)
  return [...items, { key: 'other', colour: otherColour, label: `Other (${count} more)` }]
}

const categoryLabel = (value: string | number | boolean): string => {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return value === '' ? '(empty text)' : String(value)
}

function classItems(graduated: Graduated, theme: Theme, locale: string | undefined): Item[] {
  const format = numberFormat(graduated, locale)
  return graduatedClasses(graduated, theme).map(({ from, to, colour }, index) => ({
    key: `class ${index}`,
    colour,
    label: rangeLabel(from, to, format),
  }))
}

const rangeLabel = (from: number, to: number | undefined, format: (value: number) => string): string =>
  to === undefined ? `≥ ${format(from)}` : `${format(from)} – ${format(to)}`

/** With as many decimals as the breaks have. Years are not grouped: 1990, not 1 990. */
export function numberFormat(graduated: Graduated, locale?: string): (value: number) => string {
  const { isDate, breaks, attribute, min } = graduated
  if (isDate) {
    const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
    return (value) => dates.format(value)
  }
  const decimals = Math.max(0, ...breaks.map(decimalsOf))
  const isYear = /year|jahr|ann[ée]e|año/i.test(attribute) && breaks.every((value) => value > 1000 && value < 3000)
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: decimals, useGrouping: !isYear })
  const step = 10 ** -decimals
  // The minimum is rounded down, so that it lies in the first class.
  return (value) => numbers.format(value === min ? Math.floor(value / step) * step : value)
}

const maxDecimals = 8

function decimalsOf(value: number): number {
  for (let decimals = 0; decimals < maxDecimals; decimals++) {
    if (Number(value.toFixed(decimals)) === value) return decimals
  }
  return maxDecimals
}

/** A small, a medium and a large sample. */
function sizeItems({ size, colour, geometry }: LayerRecipe, locale: string | undefined): Item[] {
  if (size.attribute === null) return []
  const format = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const shown = colour.kind === 'one' ? colour.colour : '#888888'
  return [0, 0.5, 1].map((share) => ({
    key: `size ${share}`,
    colour: shown,
    size: (size.range[0] + (size.range[1] - size.range[0]) * share) * (geometry === 'line' ? 1 : 2),
    label: format.format(geometry === 'line' ? linearAt(size, share) : circleAt(size, share)),
  }))
}

const linearAt = ({ domain: [low, high] }: Sizing, share: number): number => low + (high - low) * share

/** The value at a fraction of the size range; the radius is proportional to the square root of the value. */
function circleAt({ domain }: Sizing, share: number): number {
  const [low, high] = domain.map((value) => Math.sqrt(Math.max(value, 0))) as [number, number]
  return (low + (high - low) * share) ** 2
}
