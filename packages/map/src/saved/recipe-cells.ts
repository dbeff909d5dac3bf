/** The classes of cells at each zoom, of layers that were made from recipes: they are made when a zoom is first seen, as of data sources. */
import type { Map as MapLibreMap } from 'maplibre-gl'
import { learnBreaks, propertyOf, type ZoomBreaks } from '../recipe/cells-look.ts'
import { cellsPaint, farSourceId } from '../recipe/compile-far.ts'
import type { SeenMap } from '../recipe/legend-items.ts'
import { type CellsRecipe, isCells, type LayerRecipe } from '../recipe/recipe.ts'
import type { Theme } from '../theme.ts'

type CellLayer = LayerRecipe & { far: CellsRecipe }

const hasCells = (recipe: LayerRecipe): recipe is CellLayer => isCells(recipe.far)

const seenByMap = new WeakMap<MapLibreMap, Map<string, ZoomBreaks>>()

/** Other values or another number of classes have other breaks. */
function breaksFor(gl: MapLibreMap, { id, tilesId, conditions, far: { kind, value, classes } }: CellLayer): ZoomBreaks {
  const seen = seenByMap.get(gl) ?? new Map<string, ZoomBreaks>()
  seenByMap.set(gl, seen)
  const name = JSON.stringify([id, tilesId, conditions, kind, value, classes])
  const breaks = seen.get(name) ?? new Map()
  seen.set(name, breaks)
  return breaks
}

/** What the map shows, for its legend. */
export const seenOf = (gl: MapLibreMap): SeenMap => ({
  zoom: gl.getZoom(),
  breaksOf: (recipe) => (hasCells(recipe) ? breaksFor(gl, recipe).get(Math.floor(gl.getZoom())) : undefined),
})

/** `changed`: another legend may be right. Returns a function that ends it. */
export function followCells(
  gl: MapLibreMap,
  layersOf: () => { readonly layers: readonly LayerRecipe[]; readonly theme: Theme },
  changed: () => void,
): () => void {
  const learn = (): void => {
    const { layers, theme } = layersOf()
    for (const recipe of layers.filter(hasCells)) {
      const breaks = breaksFor(gl, recipe)
      const isNew = learnBreaks(gl, farSourceId(recipe), propertyOf(recipe.far.value), recipe.far.classes, breaks)
      colour(gl, `${recipe.id}-${recipe.far.kind}`, cellsPaint(recipe.far, theme, breaks)['fill-color'])
      if (isNew) changed()
    }
  }
  const zoomed = (): void => {
    if (layersOf().layers.some(({ far }) => far)) changed()
  }
  gl.on('idle', learn)
  gl.on('zoomend', zoomed)
  return () => {
    gl.off('idle', learn)
    gl.off('zoomend', zoomed)
  }
}

function colour(gl: MapLibreMap, layer: string, value: unknown): void {
  if (!gl.getLayer(layer)) return
  const isSame = JSON.stringify(gl.getPaintProperty(layer, 'fill-color')) === JSON.stringify(value)
  if (!isSame) gl.setPaintProperty(layer, 'fill-color', value as string)
}
