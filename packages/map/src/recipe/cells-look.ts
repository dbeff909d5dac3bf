/**
 * Hexagons, squares: the rows of a dataset counted by cells on the server. What a colour means depends on the zoom, because larger cells
 * hold more: the classes of a zoom are made when its cells are first seen, and stay.
 */
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { SourceLayer } from '../default-layers.ts'
import type { Cells, FarLook } from '../look.ts'
import type { Theme } from '../theme.ts'
import type { RecipeLegendItem } from './legend-items.ts'
import { rampColours } from './ramp-colours.ts'

export const layerOfCells = 'geometry'
const usualClasses = 5

export interface CellOptions {
  id: string
  title: string
  shape: 'hexagons' | 'grid'
  cells: Cells
  /** The TileJSON of the dataset with these parameters. */
  address(params: { aggregate: string; value: string[] }): string
}

/** `avg(population)` is the property `avg_population` of a cell. */
export const propertyOf = (value: string): string => value.replace(/^(\w+)\((.*)\)$/, '$1_$2')

export function cellsLook({ id, title, shape, cells, address }: CellOptions): FarLook {
  const { below, value = 'count', size, classes = usualClasses, palette = 'YlOrRd', reverse = false } = cells
  const property = propertyOf(value)
  const breaks: ZoomBreaks = new Map()
  const coloursOf = (count: number, theme: Theme) => rampColours(count, { ramp: palette, isReversed: reverse, theme })
  const source = `${id}-cells`
  return {
    below,
    layers: (theme) => [
      {
        id: source,
        type: 'fill',
        paint: cellPaint(property, breaks, (count) => coloursOf(count, theme), theme) as never,
      } satisfies SourceLayer,
    ],
    legend(theme, locale, zoom) {
      const known = breaks.get(Math.floor(zoom)) ?? []
      const items = cellItems(known, coloursOf(known.length + 1, theme), locale)
      const what = value === 'count' ? 'number' : value
      return { id, title: `${title}: ${what} by ${shape === 'grid' ? 'square' : 'hexagon'}`, items }
    },
    cells: {
      id: source,
      address: () => address({ aggregate: `${shape === 'grid' ? 'grid' : 'h3'}:${size ?? 'auto'}`, value: [value] }),
      learn: (gl) => learnBreaks(gl, source, property, classes, breaks),
    },
  }
}

export const cellPaint = (
  property: string,
  breaks: ZoomBreaks,
  coloursOf: (count: number) => readonly string[],
  theme: Theme,
): Record<string, unknown> => ({
  'fill-color': byZoom(breaks, (some) => stepsOf(property, some, coloursOf(some.length + 1))),
  'fill-opacity': 0.75,
  'fill-outline-color': theme === 'dark' ? '#12161d' : '#ffffff',
})

export function cellItems(
  breaks: readonly number[],
  colours: readonly string[],
  locale: string | undefined,
): RecipeLegendItem[] {
  const format = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
  return colours.map((colour, index) => ({
    key: `cell ${index}`,
    colour,
    label: labelOf(breaks[index - 1], breaks[index], (number) => format.format(number)),
    shape: 'area',
  }))
}

/** The breaks of each zoom that was seen. */
export type ZoomBreaks = Map<number, readonly number[]>

/** True if classes for the present zoom were made. */
export function learnBreaks(
  gl: MapLibreMap,
  source: string,
  property: string,
  classes: number,
  breaks: ZoomBreaks,
): boolean {
  const zoom = Math.floor(gl.getZoom())
  if (breaks.has(zoom) || !gl.getSource(source) || !gl.isSourceLoaded(source)) return false
  const values = gl
    .querySourceFeatures(source, { sourceLayer: layerOfCells })
    .map(({ properties }) => Number(properties[property] ?? Number.NaN))
    .filter(Number.isFinite)
  if (values.length === 0) return false
  breaks.set(zoom, breaksOf(values, classes))
  return true
}

/** Quantiles of the values that occur, rounded to two digits: counts are so uneven that classes of equal width would be one. */
export function breaksOf(values: readonly number[], classes: number): number[] {
  const sorted = [...new Set(values)].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  const wanted = Array.from({ length: classes - 1 }, (_, index) => rounded(at((index + 1) / classes)))
  const [first = 0] = sorted
  return [...new Set(wanted)].filter((value) => value > first)
}

const rounded = (value: number): number => Number(value.toPrecision(2))

const labelOf = (from: number | undefined, to: number | undefined, format: (value: number) => string): string => {
  if (to === undefined) return from === undefined ? 'Some' : `≥ ${format(from)}`
  return from === undefined ? `< ${format(to)}` : `${format(from)} – ${format(to)}`
}

function stepsOf(property: string, breaks: readonly number[], colours: readonly string[]): unknown {
  const [first = '#888888', ...rest] = colours
  if (breaks.length === 0) return first
  return [
    ...['step', ['to-number', ['get', property], 0], first],
    ...breaks.flatMap((value, index) => [value, rest[index] ?? first]),
  ]
}

/** A zoom that nobody has looked at has the classes of the one before. */
function byZoom(
  breaks: ReadonlyMap<number, readonly number[]>,
  colour: (breaks: readonly number[]) => unknown,
): unknown {
  const [first, ...rest] = [...breaks].sort(([one], [other]) => one - other)
  if (!first) return colour([])
  if (rest.length === 0) return colour(first[1])
  return ['step', ['zoom'], colour(first[1]), ...rest.flatMap(([zoom, some]) => [zoom, colour(some)])]
}
