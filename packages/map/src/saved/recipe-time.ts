/// <reference lib="dom" />
/** The periods of a layer that was made from a recipe, for the time slider: its tiles are asked for with a filter. */
import type { Map as MapLibreMap, VectorTileSource } from 'maplibre-gl'
import type { ShownPeriod, TimeSubject } from '../controls/time-control.ts'
import type { GraticuleMap } from '../graticule-map.ts'
import { farParams, farSourceId } from '../recipe/compile-far.ts'
import type { ServerFilter } from '../recipe/conditions.ts'
import type { LayerRecipe, TimeRange } from '../recipe/recipe.ts'
import { sourceIdOf } from '../recipe/source-ids.ts'
import { rowParams, withParams } from '../source/source-filter.ts'

export type TimedRecipe = LayerRecipe & { time: TimeRange }

export const isTimed = (recipe: LayerRecipe): recipe is TimedRecipe => Boolean(recipe.time) && !recipe.isHidden

/** The layers that share the attribute of the first one follow it. */
export function timeOfRecipes(
  { gl }: GraticuleMap,
  [first, ...others]: readonly [TimedRecipe, ...TimedRecipe[]],
): TimeSubject {
  const timed = [first, ...others.filter(({ time }) => time.attribute === first.time.attribute)]
  let shown = ''
  return {
    steps: async () => first.time.steps,
    show(period) {
      const text = JSON.stringify(period)
      if (text === shown || (shown === '' && period === null)) return
      shown = text
      for (const recipe of timed) {
        const filter = period ? filterOf(recipe.time, period) : undefined
        setParams(gl, sourceIdOf(recipe), rowParams({ filter }) as Params)
        const far = farParams(recipe, filter)
        if (far) setParams(gl, farSourceId(recipe), far)
      }
    },
    fail: ({ message }) => console.error(message),
  }
}

type Params = Record<string, string>

function setParams(gl: MapLibreMap, id: string, params: Params): void {
  const source = gl.getSource<VectorTileSource>(id)
  const { url } = source?.serialize() ?? {}
  if (source && typeof url === 'string') source.setUrl(withParams(url, params))
}

function filterOf({ attribute, type }: TimeRange, { from, to }: ShownPeriod): ServerFilter {
  const shortened = (moment: string) => (type === 'date' ? moment.slice(0, 10) : new Date(moment).toISOString())
  return { [attribute]: { ...(from !== undefined && { $gte: shortened(from) }), $lt: shortened(to) } }
}
