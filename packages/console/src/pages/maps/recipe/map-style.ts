/**
 * The style of a map: the base map with the layers compiled from the recipes. The style's `metadata` has the recipes and a
 * digest of their layers, so that layers edited by hand are detected and not overwritten.
 */

import {
  compileLabels,
  compileShapes,
  type DarkVariant,
  darkKey,
  isCells,
  isDark,
  type LayerRecipe,
  type Recipes,
  recipeMark,
  recipesKey,
  recipesOf,
  rethemed,
  type SeenMap,
  sourcePrefix,
  sourcesOf,
  type Theme,
} from '@graticule/map/recipe'
import type { LayerSpecification, SourceSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { digestOf } from './digest.ts'

const digestKey = 'graticule:digest'
const descriptionKey = 'graticule:description'

type Metadata = Record<string, unknown>
const metadataOf = ({ metadata }: { metadata?: unknown }): Metadata =>
  typeof metadata === 'object' && metadata !== null ? (metadata as Metadata) : {}

const isOfRecipe = (layer: LayerSpecification): boolean => metadataOf(layer)[recipeMark] !== undefined

/** Whether compiled layers have been changed, removed or added by hand. */
export function isEditedByHand(style: StyleSpecification): boolean {
  const stored = metadataOf(style)[digestKey]
  return stored !== undefined && stored !== compiledDigest(style)
}

function compiledDigest({ layers, sources }: StyleSpecification): string {
  const own = Object.entries(sources).filter(([id]) => id.startsWith(sourcePrefix))
  return digestOf([layers.filter(isOfRecipe), own.map(([id, source]) => [id, relativeSource(source)]).toSorted()])
}

/** Undoes the server's absolute URLs, which are not an edit. */
function relativeSource(source: SourceSpecification): SourceSpecification {
  if (!('url' in source) || typeof source.url !== 'string') return source
  return {
    ...source,
    url: source.url.replace(/^.*(?=\/tiles\/)/, '').replace(/[?&]api-key=[^&]*/, ''),
  } as SourceSpecification
}

export function themeOfStyle(style: StyleSpecification): Theme {
  const { theme } = metadataOf(style)
  if (theme === 'light' || theme === 'dark') return theme
  const background = style.layers.find((layer) => layer.type === 'background')
  const colour = background?.paint?.['background-color']
  return typeof colour === 'string' && isDark(colour) ? 'dark' : 'light'
}

/** Readers of a shared map get its style, not its record. */
export function withDescription(style: StyleSpecification, description: string): StyleSpecification {
  if (descriptionOf(style) === description) return style
  const { [descriptionKey]: _, ...metadata } = metadataOf(style)
  return { ...style, metadata: { ...metadata, ...(description && { [descriptionKey]: description }) } }
}

export const descriptionOf = (style: StyleSpecification): string => String(metadataOf(style)[descriptionKey] ?? '')

/** Replaces the recipes and recompiles their layers; everything else stays. */
export function withRecipes(style: StyleSpecification, recipes: Recipes): StyleSpecification {
  const wasHidden = recipesOf(style).isBaseHidden
  const base = style.layers.filter((layer) => !isOfRecipe(layer)).map((layer) => shown(layer, wasHidden, recipes))
  const theme = themeOfStyle(style)
  const layers = drawnOn(base, recipes.layers, theme)
  const next: StyleSpecification = {
    ...style,
    sources: { ...baseSources(style), ...recipeSources(recipes.layers) },
    layers,
    ...(!style.glyphs && layers.some(({ type }) => type === 'symbol') && { glyphs: '/fonts/{fontstack}/{range}.pbf' }),
  }
  const metadata = { ...metadataOf(style), [recipesKey]: recipes, [digestKey]: compiledDigest(next) }
  return { ...next, metadata: { ...metadata, ...darkVariant(style, recipes) } }
}

/** Labels of the base map are drawn above the data. Recipes are listed top first, the layers of a style bottom first. */
function drawnOn(
  base: readonly LayerSpecification[],
  recipes: readonly LayerRecipe[],
  theme: Theme,
): LayerSpecification[] {
  const drawn = recipes.toReversed()
  const shapes = drawn.flatMap((recipe) => compileShapes(recipe, theme))
  const labels = drawn.flatMap((recipe) => compileLabels(recipe, theme))
  return [...beforeNames(base), ...shapes, ...fromNames(base), ...labels]
}

/** The same map on a dark base map, where a style has one: for readers who prefer that. */
function darkVariant(style: StyleSpecification, recipes: Recipes): { [darkKey]?: DarkVariant } {
  const dark = metadataOf(style)[darkKey] as DarkVariant | undefined
  if (!dark) return {}
  const wasHidden = recipesOf(style).isBaseHidden
  const base = dark.layers.filter((layer) => !isOfRecipe(layer)).map((layer) => shown(layer, wasHidden, recipes))
  const layers = recipes.layers.map((recipe) => rethemed(recipe, 'light', 'dark'))
  return { [darkKey]: { ...dark, layers: drawnOn(base, layers, 'dark') } }
}

/** Stores the classes of cells that are seen: maps that find out no others have these. */
export function withSeenBreaks(style: StyleSpecification, seen: SeenMap): StyleSpecification {
  const recipes = recipesOf(style)
  const layers = recipes.layers.map((recipe): LayerRecipe => {
    const { far } = recipe
    const breaks = seen.breaksOf(recipe)
    if (!isCells(far) || !breaks || String(breaks) === String(far.breaks)) return recipe
    return { ...recipe, far: { ...far, breaks: [...breaks] } }
  })
  const isSame = layers.every((layer, index) => layer === recipes.layers[index])
  return isSame || isEditedByHand(style) ? style : withRecipes(style, { ...recipes, layers })
}

/** Replaces the base map. `baseId` is stored, to show which one is selected; `dark` is for readers who prefer that. */
export function withBase(
  style: StyleSpecification,
  base: StyleSpecification,
  baseId: string | null,
  dark?: StyleSpecification,
): StyleSpecification {
  const { [recipesKey]: _, [digestKey]: __, ...own } = metadataOf(base)
  const variant = dark && { [darkKey]: { layers: dark.layers, ...(dark.sprite && { sprite: dark.sprite }) } }
  const bare: StyleSpecification = {
    ...base,
    ...(style.name !== undefined && { name: style.name }),
    ...(style.center && { center: style.center }),
    ...(style.zoom !== undefined && { zoom: style.zoom }),
    layers: base.layers.filter((layer) => !isOfRecipe(layer)),
    sources: baseSources(base),
    metadata: { ...own, ...variant },
  }
  const recipes = recipesOf(style)
  const layers = recipes.layers.map((recipe) => rethemed(recipe, themeOfStyle(style), themeOfStyle(bare)))
  return withRecipes(bare, { ...recipes, layers, baseId, isBaseHidden: false })
}

const firstName = (layers: readonly LayerSpecification[]): number => {
  const index = layers.findIndex(({ type }) => type === 'symbol')
  return index < 0 ? layers.length : index
}
const beforeNames = (layers: readonly LayerSpecification[]) => layers.slice(0, firstName(layers))
const fromNames = (layers: readonly LayerSpecification[]) => layers.slice(firstName(layers))

/** Restores layers that were hidden together with the base map; layers hidden individually stay hidden. */
function shown(layer: LayerSpecification, wasHidden: boolean, { isBaseHidden }: Recipes): LayerSpecification {
  if (wasHidden === isBaseHidden || layer.type === 'background') return layer
  return { ...layer, layout: { ...layer.layout, visibility: isBaseHidden ? 'none' : 'visible' } } as LayerSpecification
}

const baseSources = ({ sources }: StyleSpecification): Record<string, SourceSpecification> =>
  Object.fromEntries(Object.entries(sources).filter(([id]) => !id.startsWith(sourcePrefix)))

/** Relative URLs, which the server makes absolute for each request. */
const recipeSources = (layers: readonly LayerRecipe[]): Record<string, SourceSpecification> =>
  Object.assign({}, ...layers.map(sourcesOf))

/** The ids of the server's tile sets that a style uses, without the public base map. */
export function tilesOf({ sources }: StyleSpecification): string[] {
  const addresses = Object.values(sources).flatMap((source) => [
    ...('url' in source && source.url ? [source.url] : []),
    ...('tiles' in source && source.tiles ? source.tiles : []),
  ])
  const ids = addresses.map((address) => /^\/tiles\/([\w-]+)\//.exec(address)?.[1])
  return [...new Set(ids.filter((id) => id !== undefined && id !== 'basemap'))] as string[]
}
