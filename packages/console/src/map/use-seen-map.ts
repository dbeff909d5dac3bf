/** What the surrounding map shows just now, for its legend: the zoom, and the classes of cells there. */
import { useMap } from '@graticule/map/react'
import { followCells, type LayerRecipe, type SeenMap, seenOf, type Theme } from '@graticule/map/recipe'
import { useEffect, useEffectEvent, useReducer } from 'react'

export function useSeenMap(layers: readonly LayerRecipe[], theme: Theme): SeenMap {
  const { gl } = useMap()
  const [, renew] = useReducer((count: number) => count + 1, 0)
  const latest = useEffectEvent(() => ({ layers, theme }))
  useEffect(
    () =>
      followCells(
        gl,
        () => latest(),
        () => renew(),
      ),
    [gl],
  )
  return seenOf(gl)
}
