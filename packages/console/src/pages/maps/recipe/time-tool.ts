/** A layer with a time is of no use to readers without the slider. */
import { mapTools, type Recipes, usualTools } from '@graticule/map/recipe'

export function withTimeTool(recipes: Recipes): Recipes {
  const chosen = recipes.tools ?? usualTools
  return { ...recipes, tools: mapTools.filter((tool) => tool === 'time' || chosen.includes(tool)) }
}
