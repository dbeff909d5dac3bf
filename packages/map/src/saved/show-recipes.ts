/// <reference lib="dom" />
/**
 * Shows what was saved with a style in the console besides its layers: popups, tooltips, the legend and the tools of readers. They are in the
 * recipes of the style's metadata, so a map that was made in the console is on any page as it is there.
 */
import { FullscreenControl, GeolocateControl, type IControl } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import type { RecipePart } from '../map-options.ts'
import { legendsOf, type RecipeLegend } from '../recipe/legend-items.ts'
import { type LayerRecipe, type MapTool, type Recipes, usualTools } from '../recipe/recipe.ts'
import { recipesOf } from '../recipe/stored-recipes.ts'
import type { Theme } from '../theme.ts'
import { showRecipePopups } from './recipe-popups.ts'
import { isTimed, type TimedRecipe, timeOfRecipes } from './recipe-time.ts'

export interface ShownRecipes {
  legends(theme: Theme, locale?: string): RecipeLegend[]
  end(): void
}

/** Follows changes of the style. */
export function showRecipes(map: GraticuleMap, parts: readonly RecipePart[]): ShownRecipes {
  const { gl } = map
  let layers: readonly LayerRecipe[] = []
  let controls: readonly Promise<IControl | undefined>[] = []
  const begin = (): void =>
    map.whenStyled((style) => {
      const recipes = recipesOf(style)
      layers = recipes.layers
      removeAll(map, controls)
      controls = controlsOf(map, recipes, parts)
      map.tellLegend()
    })
  gl.on('style.load', begin)
  begin()
  const endPopups = parts.includes('popups') ? showRecipePopups(gl, () => layers) : undefined
  return {
    legends: (theme, locale) => legendsOf(layers, theme, locale),
    end() {
      gl.off('style.load', begin)
      endPopups?.()
      removeAll(map, controls)
    },
  }
}

function removeAll({ gl }: GraticuleMap, controls: readonly Promise<IControl | undefined>[]): void {
  for (const added of controls)
    void added.then((control) => control && gl.hasControl(control) && gl.removeControl(control))
}

function controlsOf(
  map: GraticuleMap,
  { layers, tools }: Recipes,
  parts: readonly RecipePart[],
): Promise<IControl | undefined>[] {
  const wanted: readonly MapTool[] = parts.includes('tools') ? (tools ?? usualTools) : []
  const legend = parts.includes('legend') && layers.length > 0 ? [map.legend()] : []
  return [...legend, ...wanted.map((tool) => adders[tool](map, layers))]
}

const adders: Record<MapTool, (map: GraticuleMap, layers: readonly LayerRecipe[]) => Promise<IControl | undefined>> = {
  search: (map) => map.search({ position: 'top-right' }),
  fullscreen: async ({ gl }) => added(gl, new FullscreenControl()),
  locate: async ({ gl }) => added(gl, new GeolocateControl({ trackUserLocation: true })),
  measure: (map) => map.measure(),
  async time(map, layers) {
    const [first, ...others] = layers.filter(isTimed)
    return first && addTime(map, [first, ...others])
  },
}

function added(gl: GraticuleMap['gl'], control: IControl): IControl {
  gl.addControl(control, 'top-right')
  return control
}

async function addTime(map: GraticuleMap, timed: readonly [TimedRecipe, ...TimedRecipe[]]): Promise<IControl> {
  const { TimeControl } = await import('../controls/time-control.ts')
  const control = new TimeControl(map, { show: timed[0].time.show }, timeOfRecipes(map, timed))
  map.gl.addControl(control, 'bottom-left')
  return control
}
