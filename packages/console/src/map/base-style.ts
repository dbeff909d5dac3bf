/** The style of the base map, light or dark; it is public. */
import { useQuery } from '@tanstack/react-query'
import type { StyleSpecification } from 'maplibre-gl'
import { consoleUrl } from '../address.ts'
import { useTheme } from '../theme.ts'
import { absoluteStyle } from './absolute-style.ts'

/** The query itself, with its error and `refetch`. */
export function useBaseStyleQuery(isWanted = true) {
  const theme = useTheme()
  return useQuery({
    queryKey: ['base-style', theme],
    queryFn: () => fetchBaseStyle(theme),
    staleTime: Infinity,
    enabled: isWanted,
  })
}

/** Resolves the style's URLs, which are relative to the server. */
async function fetchBaseStyle(theme: 'light' | 'dark'): Promise<StyleSpecification> {
  const response = await fetch(consoleUrl(`base/${theme}.json`))
  if (!response.ok) throw new Error(`The base map’s style could not be loaded (${response.status}).`)
  return absoluteStyle((await response.json()) as StyleSpecification)
}
