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
import { followReaderTheme } from './reader-theme.ts'
import { followCells, seenOf } from './recipe-cells.ts'
import { showRecipePopups } from './recipe-popups.ts'
import { isTimed, type TimedRecipe, timeOfRecipes } from './recipe-time.ts'

export type RecipeLegends = (theme: Theme, locale?: string) => RecipeLegend[]

const allParts: readonly RecipePart[] = ['popups', 'legend', 'tools']

/** All of them, or a list. */
export type ShownParts = true | readonly RecipePart[]

function partsOf(shown: ShownParts): readonly RecipePart[] {
  const parts = shown === true ? allParts : shown
  if (parts.every((part) => allParts.includes(part))) return parts
  throw new TypeError(`GraticuleMap: recipes must be true, false or a list of ${allParts.join(', ')}.`)
}

/** Follows changes of the style. Returns a function that ends it. */
export function showRecipes(map: GraticuleMap, shownParts: ShownParts): () => void {
  const parts = partsOf(shownParts)
  const { gl } = map
  let layers: readonly LayerRecipe[] = []
  let theme: Theme = 'light'
  let endControls: (() => void) | undefined
  const begin = (): void =>
    map.whenStyled((style, its) => {
      theme = its
      const recipes = recipesOf(style)
      layers = recipes.layers
      endControls?.()
      endControls = addControls(map, recipes, parts)
      map.tellLegend()
    })
  gl.on('style.load', begin)
  begin()
  const endTheme = followReaderTheme(map)
  const shown = () => ({ layers, theme })
  const endCells = followCells(gl, shown, () => map.tellLegend())
  const endPopups = parts.includes('popups') ? showRecipePopups(map, () => layers) : undefined
  map.recipeLegends = (its, locale) => legendsOf(layers, its, locale, seenOf(gl))
  return () => {
    gl.off('style.load', begin)
    endTheme()
    endPopups?.()
    endCells()
    endControls?.()
  }
}

/** One after the other, so that they stand in their order. Returns a function that removes them. */
function addControls(map: GraticuleMap, recipes: Recipes, parts: readonly RecipePart[]): () => void {
  const added: IControl[] = []
  let isEnded = false
  const addAll = async (): Promise<void> => {
    for (const add of addersOf(recipes, parts)) {
      if (isEnded) return
      const control = await add(map, recipes.layers)
      if (control && isEnded) map.gl.removeControl(control)
      else if (control) added.push(control)
    }
  }
  void addAll()
  return () => {
    isEnded = true
    for (const control of added) if (map.gl.hasControl(control)) map.gl.removeControl(control)
  }
}

type Add = (map: GraticuleMap, layers: readonly LayerRecipe[]) => Promise<IControl | undefined>

function addersOf({ layers, tools }: Recipes, parts: readonly RecipePart[]): Add[] {
  const wanted: readonly MapTool[] = parts.includes('tools') ? (tools ?? usualTools) : []
  const legend: Add[] = parts.includes('legend') && layers.length > 0 ? [(map) => map.legend()] : []
  return [...wanted.map((tool) => adders[tool]), ...legend]
}

const adders: Record<MapTool, Add> = {
  search: (map) => map.search(),
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
