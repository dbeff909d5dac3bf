/** Makes the looks of a data source, far out and close in: a recipe from the statistics of its attributes, and from that its layers and legend. */
import type { AttributeStatistics } from '@graticule/client'
import type { LayerSpecification } from 'maplibre-gl'
import { ifSelected, type SourceLayer, selectedColour } from '../default-layers.ts'
import type { Cells, ColorBy, FarLook, Look, LookOptions, Looks, SizeBy } from '../look.ts'
import type { Theme } from '../theme.ts'
import { isMethodPossible, maxClasses, minClasses, tidyBreaks } from './breaks.ts'
import { type CellOptions, cellsLook } from './cells-look.ts'
import { colouredCategories } from './classes.ts'
import { compileShapes } from './compile.ts'
import {
  breaksFor,
  colourKinds,
  defaultCategories,
  defaultGraduated,
  defaultRecipe,
  distributionOf,
} from './defaults.ts'
import { heatLook } from './heat-look.ts'
import { legendItems } from './legend-items.ts'
import type { Categories, Colouring, Graduated, LayerGeometryKind, LayerRecipe } from './recipe.ts'

/** What is known of the features of a source. */
export interface LookData {
  readonly name: string
  readonly geometry: LayerGeometryKind
  statistics(attribute: string): Promise<AttributeStatistics>
}

export async function makeLook(
  id: string,
  title: string | undefined,
  options: LookOptions,
  data: LookData,
  address: CellOptions['address'],
): Promise<Looks> {
  const name = title ?? data.name
  const { heat, hexagons, grid } = options
  const far = heat
    ? await heatLook(id, name, heat === true ? {} : heat, data)
    : cellsOf(hexagons, grid, (shape, cells) => cellsLook({ id, title: name, shape, cells, address }))
  const near =
    options.colorBy === undefined && options.sizeBy === undefined ? undefined : await nearLook(id, name, options, data)
  return { name, ...(far && { far }), ...(near && { near }) }
}

function cellsOf(
  hexagons: LookOptions['hexagons'],
  grid: LookOptions['grid'],
  make: (shape: 'hexagons' | 'grid', cells: Cells) => FarLook,
): FarLook | undefined {
  const wanted = hexagons || grid
  if (!wanted) return undefined
  return make(hexagons ? 'hexagons' : 'grid', wanted === true ? {} : wanted)
}

/** Features by the values of their attributes. */
async function nearLook(id: string, name: string, options: LookOptions, data: LookData): Promise<Look> {
  const { colorBy, sizeBy } = options
  const colour = typeof colorBy === 'string' ? { attribute: colorBy } : colorBy
  const size = typeof sizeBy === 'string' ? { attribute: sizeBy } : sizeBy
  const [colours, sizes] = await Promise.all([
    colour && data.statistics(colour.attribute),
    size && data.statistics(size.attribute),
  ])
  const recipeOf = (theme: Theme): LayerRecipe => {
    const dataset = { id: '', name, attributes: [] }
    const recipe = { ...defaultRecipe({ id, dataset, tilesId: id, index: 0, theme }), geometry: data.geometry }
    return {
      ...recipe,
      ...(colour && colours && { colour: colouringOf(colour, colours, theme) }),
      ...(size && sizes && { size: sizingOf(recipe, size, sizes) }),
    }
  }
  return {
    layers: (theme) => compileShapes(recipeOf(theme), theme).map((layer) => sourceLayerOf(layer, theme)),
    legend(theme, locale) {
      const recipe = recipeOf(theme)
      return { id, title: recipe.name, items: legendItems(recipe, theme, locale) }
    },
  }
}

function colouringOf(options: ColorBy, statistics: AttributeStatistics, theme: Theme): Colouring {
  const [best] = colourKinds(statistics)
  const isGraduated = options.kind ? options.kind === 'classes' : best === 'graduated'
  return isGraduated ? graduatedOf(options, statistics, theme) : categoriesOf(options, statistics, theme)
}

function graduatedOf(options: ColorBy, statistics: AttributeStatistics, theme: Theme): Graduated {
  const distribution = distributionOf(statistics)
  if (!Number.isFinite(distribution.min) || !Number.isFinite(distribution.max))
    throw new Error(
      `colorBy: "${options.attribute}" has no numbers or dates, so it has no classes. Use kind "categories".`,
    )
  const usual = defaultGraduated(statistics, distribution, theme)
  const classes = Math.min(Math.max(options.classes ?? usual.classes, minClasses), maxClasses)
  const method = options.method ?? 'natural'
  if (!isMethodPossible(method, distribution))
    throw new Error(`colorBy: the method "${method}" needs values above zero. Use another, such as "quantile".`)
  const made = options.method || options.classes ? breaksFor(method, classes, distribution, usual.isDate) : usual.breaks
  return {
    ...usual,
    classes,
    breaks: options.breaks ? tidyBreaks(options.breaks, distribution) : made,
    ramp: options.palette ?? usual.ramp,
    isReversed: options.reverse ?? false,
  }
}

function categoriesOf(options: ColorBy, statistics: AttributeStatistics, theme: Theme): Categories {
  const usual = defaultCategories(statistics, theme)
  const ramp = options.palette ?? usual.ramp
  const isReversed = options.reverse ?? false
  const values = usual.categories.map(({ value }) => value)
  const coloured = colouredCategories(values, { ramp, isReversed }, theme)
  const categories = coloured.map(({ value, colour }) => ({ value, colour: options.colors?.[String(value)] ?? colour }))
  return { ...usual, ramp, isReversed, categories }
}

function sizingOf({ size }: LayerRecipe, { attribute, range }: SizeBy, statistics: AttributeStatistics) {
  const { min, max } = distributionOf(statistics)
  if (!Number.isFinite(min) || !Number.isFinite(max)) throw new Error(`sizeBy: "${attribute}" has no numbers.`)
  return {
    ...size,
    attribute,
    domain: [min, max] as [number, number],
    ...(range && { range: [...range] as [number, number] }),
  }
}

const colours = ['fill-color', 'line-color', 'circle-color']

/** Without its source, which the data source names, and with selected features in their colour. */
function sourceLayerOf(layer: LayerSpecification, theme: Theme): SourceLayer {
  const { source, 'source-layer': _, metadata, ...rest } = layer as Record<string, unknown>
  const isOutline = String(rest.id).endsWith('-outline')
  const paint = Object.fromEntries(
    Object.entries(layer.paint ?? {}).map(([name, value]) => [
      name,
      colours.includes(name) && !isOutline ? ifSelected(selectedColour(theme), value) : value,
    ]),
  )
  return { ...rest, paint } as unknown as SourceLayer
}
