/** Compiles what a layer shows far out in place of its features: heat, cells, clusters. */
import type { SourceSpecification } from 'maplibre-gl'
import { rowParams } from '../source/source-filter.ts'
import { cellPaint, layerOfCells, propertyOf, type ZoomBreaks } from './cells-look.ts'
import { type ServerFilter, serverFilterOf } from './conditions.ts'
import { heatColours, heatPaint } from './heat-look.ts'
import { rampColours } from './ramp-colours.ts'
import {
  type CellsRecipe,
  type ClustersRecipe,
  type FarRecipe,
  isCells,
  type LayerRecipe,
  type Theme,
} from './recipe.ts'
import { sourceIdOf } from './source-ids.ts'

/** A MapLibre layer before its id, source and zooms are known. */
export interface FarDraft {
  part: string
  type: string
  source: string
  sourceLayer: string
  filter?: unknown
  layout?: Record<string, unknown>
  paint: Record<string, unknown>
}

/** Cells and clusters have a source of their own, because the server makes their tiles of the rows. */
export const farSourceId = (recipe: LayerRecipe): string =>
  recipe.far && recipe.far.kind !== 'heat'
    ? `${sourceIdOf(recipe)}-${recipe.id}-${recipe.far.kind}`
    : sourceIdOf(recipe)

const aggregates = { hexagons: 'h3:auto', grid: 'grid:auto', clusters: 'cluster' }

/** The sources of a layer by their ids, with addresses relative to the server. */
export function sourcesOf(recipe: LayerRecipe): Record<string, SourceSpecification> {
  const address = `/tiles/${recipe.tilesId}/index.json`
  const own = { [sourceIdOf(recipe)]: vector(address) }
  const params = farParams(recipe)
  return params ? { ...own, [farSourceId(recipe)]: vector(`${address}?${new URLSearchParams(params)}`) } : own
}

const vector = (url: string): SourceSpecification => ({ type: 'vector', url })

/** What cells and clusters are asked for with: rows that a condition leaves out are not counted. `period` is another condition. */
export function farParams({ far, conditions }: LayerRecipe, period?: ServerFilter): Record<string, string> | undefined {
  if (!far || far.kind === 'heat') return undefined
  const filters = [serverFilterOf(conditions), period].filter((filter) => filter !== undefined)
  const filter = filters.length > 1 ? { $and: filters } : filters[0]
  return {
    aggregate: aggregates[far.kind],
    ...(isCells(far) && far.value !== 'count' && { value: far.value }),
    ...(rowParams({ filter }) as Record<string, string>),
  }
}

/** `breaks`: those of cells by zoom, where they are known. */
export function farDrafts(recipe: LayerRecipe, far: FarRecipe, theme: Theme, breaks?: ZoomBreaks): FarDraft[] {
  const source = farSourceId(recipe)
  if (far.kind === 'heat') {
    const paint = heatPaint(far, heatColours(far, theme))
    return [{ part: 'heat', type: 'heatmap', source, sourceLayer: recipe.sourceLayer, paint }]
  }
  if (far.kind === 'clusters') return clusterDrafts(far, source, theme)
  return [{ part: far.kind, type: 'fill', source, sourceLayer: layerOfCells, paint: cellsPaint(far, theme, breaks) }]
}

/** Of the zoom where they were chosen, until others are known. */
const storedZoom = 0

export function cellsPaint(far: CellsRecipe, theme: Theme, breaks?: ZoomBreaks): Record<string, unknown> {
  const known: ZoomBreaks = breaks && breaks.size > 0 ? breaks : new Map([[storedZoom, far.breaks]])
  return cellPaint(propertyOf(far.value), known, (count) => cellColours(far, count, theme), theme)
}

export const cellColours = ({ ramp, isReversed }: CellsRecipe, count: number, theme: Theme): string[] =>
  rampColours(count, { ramp, isReversed, theme })

const pointCount = ['coalesce', ['get', 'point_count'], ['get', 'count'], 1]

function clusterDrafts({ colour }: ClustersRecipe, source: string, theme: Theme): FarDraft[] {
  const edge = theme === 'dark' ? '#12161d' : '#ffffff'
  const common = { source, sourceLayer: layerOfCells }
  const paint = {
    'circle-color': colour,
    'circle-opacity': 0.85,
    'circle-radius': ['+', 6, ['*', 2.8, ['ln', pointCount]]],
    'circle-stroke-color': edge,
    'circle-stroke-width': 1.5,
  }
  const layout = {
    'text-field': ['to-string', ['coalesce', ['get', 'point_count_abbreviated'], pointCount]],
    'text-font': ['Noto Sans Regular'],
    'text-size': 12,
    'text-allow-overlap': true,
    'text-ignore-placement': true,
  }
  const filter = ['>', pointCount, 1]
  return [
    { ...common, part: 'clusters', type: 'circle', paint },
    { ...common, part: 'cluster-counts', type: 'symbol', filter, layout, paint: { 'text-color': edge } },
  ]
}
