/** Popups of the layers that were made in the visual editor, as they are chosen now. */
import { useMap } from '@graticule/map/react'
import { type LayerRecipe, showRecipePopups } from '@graticule/map/recipe'
import { useEffect, useEffectEvent } from 'react'

interface RecipePopupsProps {
  layers: readonly LayerRecipe[]
}

export function RecipePopups({ layers }: RecipePopupsProps): null {
  const map = useMap()
  const latest = useEffectEvent(() => layers)
  useEffect(() => showRecipePopups(map, () => latest()), [map])
  return null
}
