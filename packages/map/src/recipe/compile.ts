/** Compiles a recipe to MapLibre layers: fills with outlines, lines, circles, and labels. */
import type { LayerSpecification } from 'maplibre-gl'
import { graduatedClasses } from './classes.ts'
import { farDrafts } from './compile-far.ts'
import { filterOf, isEmpty } from './conditions.ts'
import { type Categories, type Graduated, type LayerRecipe, maxZoom, type Sizing, type Theme } from './recipe.ts'
import { sourceIdOf } from './source-ids.ts'

type Part = 'fill' | 'outline' | 'line' | 'point' | 'label'
type Draft = { type: string; paint: Record<string, unknown>; layout?: Record<string, unknown> }
type Expression = unknown

/** The metadata key that names the recipe of a compiled layer. */
export const recipeMark = 'graticule:recipe'

const partsOf = {
  point: ['point'],
  line: ['line'],
  area: ['fill', 'outline'],
  mixed: ['fill', 'outline', 'line', 'point'],
} as const
const shapes: Partial<Record<Part, string>> = {
  fill: 'Polygon',
  outline: 'Polygon',
  line: 'LineString',
  point: 'Point',
}
const inks = {
  light: { text: '#24292e', halo: '#ffffff' },
  dark: { text: '#eef1f4', halo: '#12161d' },
}

/** The data, without labels. */
export function compileShapes(recipe: LayerRecipe, theme: Theme): LayerSpecification[] {
  const near = nearOf(recipe)
  const shapes = near ? partsOf[recipe.geometry].map((part) => layerOf(near, part, draftOf[part](near, theme))) : []
  return [...compileFar(recipe, theme), ...shapes]
}

/** Labels, which are drawn above everything else. */
export function compileLabels(recipe: LayerRecipe, theme: Theme): LayerSpecification[] {
  const near = nearOf(recipe)
  return near?.label ? [layerOf(near, 'label', labelDraft(near, near.label, theme))] : []
}

/** Where the features themselves are shown; undefined: nowhere. */
function nearOf(recipe: LayerRecipe): LayerRecipe | undefined {
  const { far, zoom } = recipe
  if (!far) return recipe
  const from = far.below === null ? maxZoom : Math.max(zoom[0], far.below)
  return from < zoom[1] ? { ...recipe, zoom: [from, zoom[1]] } : undefined
}

function compileFar(recipe: LayerRecipe, theme: Theme): LayerSpecification[] {
  const { id, far, isHidden, zoom, conditions } = recipe
  if (!far) return []
  const to = Math.min(zoom[1], far.below ?? maxZoom)
  const filter = far.kind === 'heat' ? filterOf(conditions) : undefined
  return farDrafts(recipe, far, theme).map(
    ({ part, sourceLayer, layout = {}, ...draft }) =>
      ({
        ...(filter && { filter }),
        ...draft,
        id: `${id}-${part}`,
        'source-layer': sourceLayer,
        metadata: { [recipeMark]: id },
        ...(zoom[0] > 0 && { minzoom: zoom[0] }),
        ...(to < maxZoom && { maxzoom: to }),
        layout: { ...layout, visibility: isHidden ? 'none' : 'visible' },
      }) as unknown as LayerSpecification,
  )
}

function layerOf(recipe: LayerRecipe, part: Part, { type, paint, layout = {} }: Draft): LayerSpecification {
  const { id, sourceLayer, isHidden, zoom, geometry, conditions } = recipe
  const shape = geometry === 'mixed' ? shapes[part] : undefined
  const filters = [shape && ['match', ['geometry-type'], [shape, `Multi${shape}`], true, false], filterOf(conditions)]
  const present = filters.filter((filter) => filter !== undefined)
  return {
    id: `${id}-${part}`,
    type,
    source: sourceIdOf(recipe),
    'source-layer': sourceLayer,
    metadata: { [recipeMark]: id },
    ...(zoom[0] > 0 && { minzoom: zoom[0] }),
    ...(zoom[1] < maxZoom && { maxzoom: zoom[1] }),
    ...(present.length > 0 && { filter: present.length > 1 ? ['all', ...present] : present[0] }),
    layout: { ...layout, visibility: isHidden ? 'none' : 'visible' },
    paint,
  } as LayerSpecification
}

const draftOf: Record<'fill' | 'outline' | 'line' | 'point', (recipe: LayerRecipe, theme: Theme) => Draft> = {
  fill: (recipe, theme) => ({
    type: 'fill',
    paint: { 'fill-color': colourOf(recipe, theme), 'fill-opacity': recipe.opacity },
  }),
  outline: ({ stroke, opacity }) => ({
    type: 'line',
    layout: { 'line-join': 'round' },
    paint: { 'line-color': stroke.colour, 'line-width': stroke.width, 'line-opacity': opacity },
  }),
  line: (recipe, theme) => ({
    type: 'line',
    layout: { 'line-join': 'round', 'line-cap': 'round' },
    paint: {
      'line-color': colourOf(recipe, theme),
      'line-width': sizeOf(recipe.size, (value) => value),
      'line-opacity': recipe.opacity,
    },
  }),
  point: (recipe, theme) => ({
    type: 'circle',
    layout: drawingOrder(recipe),
    paint: {
      'circle-color': colourOf(recipe, theme),
      // People compare areas of circles, so the radius is proportional to the square root.
      'circle-radius': sizeOf(recipe.size, Math.sqrt),
      'circle-opacity': recipe.opacity,
      'circle-stroke-color': recipe.stroke.colour,
      'circle-stroke-width': recipe.stroke.width,
      'circle-stroke-opacity': recipe.opacity,
    },
  }),
}

/** Draws small circles above large ones, otherwise high values above low ones, so that rare ones are visible. */
function drawingOrder({ size, colour }: LayerRecipe): Record<string, unknown> {
  if (size.attribute !== null) return { 'circle-sort-key': ['-', 0, numericValue(size.attribute)] }
  if (colour.kind !== 'graduated' || colour.isDate) return {}
  return { 'circle-sort-key': numericValue(colour.attribute) }
}

const numericValue = (attribute: string): Expression => ['to-number', ['get', attribute], 0]

function sizeOf({ value, attribute, range, domain }: Sizing, scale: typeof Math.sqrt): Expression {
  if (attribute === null) return value
  const [lowest, highest] = domain.map((end) => scale(Math.max(end, 0))) as [number, number]
  if (!(highest > lowest)) return value
  const input = scale === Math.sqrt ? ['sqrt', ['max', 0, numericValue(attribute)]] : numericValue(attribute)
  return ['interpolate', ['linear'], input, lowest, range[0], highest, range[1]]
}

function colourOf({ colour }: LayerRecipe, theme: Theme): Expression {
  if (colour.kind === 'one') return colour.colour
  return colour.kind === 'categories' ? categoriesColour(colour) : graduatedColour(colour, theme)
}

/** `match` needs at least one pair, and distinct values. */
function categoriesColour({ attribute, categories, nullColour, otherColour }: Categories): Expression {
  const colours = new Map(categories.map(({ value, colour }) => [String(value), colour]))
  const matched =
    colours.size > 0 ? ['match', ['to-string', ['get', attribute]], ...[...colours].flat(), otherColour] : otherColour
  return ['case', isEmpty(attribute), nullColour, matched]
}

function graduatedColour(graduated: Graduated, theme: Theme): Expression {
  const { attribute, breaks, isDate, nullColour } = graduated
  const colours = graduatedClasses(graduated, theme).map(({ colour }) => colour)
  const start = ['case', isEmpty(attribute), nullColour]
  if (breaks.length === 0) return [...start, colours[0]]
  if (isDate) {
    // Dates in tiles are ISO strings, which sort chronologically.
    const text = ['to-string', ['get', attribute]]
    return [
      ...start,
      ...breaks.flatMap((end, index) => [['<', text, isoOf(end, breaks)], colours[index]]),
      colours.at(-1),
    ]
  }
  const pairs = breaks.flatMap((value, index) => [value, colours[index + 1]])
  return [...start, ['step', numericValue(attribute), colours[0], ...pairs]]
}

const dayMs = 86_400_000

/** Only the date if every break is at midnight, because that compares correctly with dates and timestamps. */
function isoOf(ms: number, breaks: readonly number[]): string {
  const iso = new Date(ms).toISOString()
  return breaks.every((value) => value % dayMs === 0) ? iso.slice(0, 10) : iso
}

function labelDraft(
  { geometry }: LayerRecipe,
  { attribute, size }: { attribute: string; size: number },
  theme: Theme,
): Draft {
  const isLine = geometry === 'line'
  const { text, halo } = inks[theme]
  return {
    type: 'symbol',
    layout: {
      'text-field': ['to-string', ['get', attribute]],
      'text-font': ['Noto Sans Regular'],
      'text-size': size,
      ...(isLine
        ? { 'symbol-placement': 'line' }
        : { 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.6 }),
      'text-optional': true,
    },
    paint: { 'text-color': text, 'text-halo-color': halo, 'text-halo-width': 1.5 },
  }
}
