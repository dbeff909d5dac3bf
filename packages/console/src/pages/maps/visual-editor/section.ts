/** The props of each section of a layer's panel. */
import type { Attribute, LayerRecipe } from '@graticule/map/recipe'

export interface SectionProps {
  recipe: LayerRecipe
  attributes: readonly Attribute[]
  change(change: (recipe: LayerRecipe) => LayerRecipe, of?: string): void
}
