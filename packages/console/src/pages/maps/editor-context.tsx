/** The context of the map editor: the current document and the functions that change it. */
import type { GraticuleMap } from '@graticule/map'
import { type LayerRecipe, type Recipes, recipesOf, type Theme } from '@graticule/map/recipe'
import { createContext, type ReactElement, type ReactNode, use, useMemo, useRef } from 'react'
import type { EditorActions, MapDocument } from './editor-store.ts'
import { themeOfStyle, withRecipes } from './recipe/map-style.ts'

export interface Editor {
  document: MapDocument
  recipes: Recipes
  /** Whether the base map is light or dark. */
  theme: Theme
  change: EditorActions['change']
  /** Consecutive changes with the same `of`, such as those of one slider, are one undo step. */
  changeRecipes(change: (recipes: Recipes) => Recipes, of?: string): void
  changeLayer(id: string, change: (recipe: LayerRecipe) => LayerRecipe, of?: string): void
  /** The live map, once it is created. */
  map: { current: GraticuleMap | null }
}

const EditorContext = createContext<Editor | null>(null)

export function useEditor(): Editor {
  const editor = use(EditorContext)
  if (!editor) throw new Error('useEditor is used outside of EditorProvider.')
  return editor
}

interface EditorProviderProps {
  document: MapDocument
  change: EditorActions['change']
  children: ReactNode
}

export function EditorProvider({ document, change, children }: EditorProviderProps): ReactElement {
  const map = useRef<GraticuleMap | null>(null)
  const value = useMemo((): Editor => {
    const changeRecipes: Editor['changeRecipes'] = (next, of) =>
      change((now) => ({ ...now, style: withRecipes(now.style, next(recipesOf(now.style))) }), of)
    return {
      document,
      recipes: recipesOf(document.style),
      theme: themeOfStyle(document.style),
      change,
      changeRecipes,
      changeLayer: (id, next, of) =>
        changeRecipes(
          (recipes) => ({ ...recipes, layers: recipes.layers.map((layer) => (layer.id === id ? next(layer) : layer)) }),
          of && `${id} ${of}`,
        ),
      map,
    }
  }, [document, change])
  return <EditorContext value={value}>{children}</EditorContext>
}
