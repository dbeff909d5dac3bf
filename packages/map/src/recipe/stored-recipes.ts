/** The recipes that are stored in the metadata of a style. */
import { noRecipes, type Recipes } from './recipe.ts'

export const recipesKey = 'graticule:recipes'

/** A style without any is only a base map. */
export function recipesOf({ metadata }: { readonly metadata?: unknown }): Recipes {
  const stored = (metadata as Record<string, unknown> | null | undefined)?.[recipesKey] as Recipes | undefined
  return stored?.version === 1 && Array.isArray(stored.layers) ? stored : noRecipes
}
