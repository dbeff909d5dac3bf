/// <reference lib="dom" />
/** Shows a map that was saved with a light and a dark base map as its reader prefers pages. */
import type { StyleSpecification } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import { hasDarkVariant, themedStyle } from '../recipe/stored-recipes.ts'

/** Returns a function that ends it. */
export function followReaderTheme(map: GraticuleMap): () => void {
  const { gl } = map
  const prefersDark = matchMedia('(prefers-color-scheme: dark)')
  let saved: StyleSpecification | undefined
  const show = (): void => {
    if (saved) map.setStyle(themedStyle(saved, prefersDark.matches ? 'dark' : 'light'))
  }
  const loaded = (): void =>
    map.whenStyled((style) => {
      if (!hasDarkVariant(style)) return
      saved = style
      if (prefersDark.matches) show()
    })
  gl.on('style.load', loaded)
  loaded()
  prefersDark.addEventListener('change', show)
  return () => {
    gl.off('style.load', loaded)
    prefersDark.removeEventListener('change', show)
  }
}
