/** What the metadata of a style have of its recipes. */
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../theme.ts'
import { noRecipes, type Recipes } from './recipe.ts'

export const recipesKey = 'graticule:recipes'
export const darkKey = 'graticule:dark'

type Metadata = Readonly<Record<string, unknown>>

const metadataOf = ({ metadata }: { readonly metadata?: unknown }): Metadata => (metadata ?? {}) as Metadata

/** A style without any is only a base map. */
export function recipesOf(style: { readonly metadata?: unknown }): Recipes {
  const stored = metadataOf(style)[recipesKey] as Recipes | undefined
  return stored?.version === 1 && Array.isArray(stored.layers) ? stored : noRecipes
}

/** What differs in a style for readers who prefer dark pages. */
export interface DarkVariant {
  layers: LayerSpecification[]
  /** Relative to the server, as styles are stored. */
  sprite?: StyleSpecification['sprite']
}

export const hasDarkVariant = (style: { readonly metadata?: unknown }): boolean => darkKey in metadataOf(style)

/** The style as a reader of this theme sees it; one that has no variant is the same for all. */
export function themedStyle<Style extends StyleSpecification>(style: Style, theme: Theme): Style {
  const { [darkKey]: variant, ...metadata } = metadataOf(style)
  if (!variant) return style
  if (theme === 'light') return { ...style, metadata }
  const { layers, sprite } = variant as DarkVariant
  return { ...style, layers, ...spriteBeside(style.sprite, sprite), metadata: { ...metadata, theme } }
}

const serverPath = /\/sprites\/.*$/

/** At the address where the other one is. */
function spriteBeside(
  light: StyleSpecification['sprite'],
  dark: StyleSpecification['sprite'],
): Pick<StyleSpecification, 'sprite'> {
  if (typeof light !== 'string' || typeof dark !== 'string' || !serverPath.test(light)) return {}
  return { sprite: light.replace(serverPath, dark.slice(dark.search(serverPath))) }
}
