/** The ids of the sources of recipes. */
import type { LayerRecipe } from './recipe.ts'

/** Layers of the same tiles share a source, but for those whose period a reader chooses. */
export const sourceIdOf = ({ tilesId, id, time }: Pick<LayerRecipe, 'tilesId' | 'id' | 'time'>): string =>
  time ? `${sourcePrefix}${tilesId}-${id}` : sourcePrefix + tilesId

/** How the ids of all sources of recipes begin. */
export const sourcePrefix = 'graticule-'
