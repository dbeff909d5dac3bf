/** The document of a new map: a base map, optionally with a dataset. */
import type { Client } from '@graticule/client'
import { defaultRecipe, geometryOf, type LayerRecipe, type Recipes, recipesOf } from '@graticule/map/recipe'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { queryOptions } from '@tanstack/react-query'
import { lookedRecipe } from '../../look/looked-recipe.ts'
import { queryKeys } from '../../query-keys.ts'
import type { MapDocument } from './editor-store.ts'
import { themeOfStyle, withBase, withRecipes } from './recipe/map-style.ts'
import type { DatasetSummary } from './styles-query.ts'
import { findTilesId, readDefaultBase } from './styles-query.ts'

export interface NewMapOptions {
  dataset?: string | undefined
  /** The id of a style, or `none`. */
  base?: string | undefined
}

export const noBaseId = 'none'
/** Light or dark, as the reader prefers. */
export const readerBaseId = 'reader'

/** Only a background. */
const emptyStyle: StyleSpecification = {
  version: 8,
  sources: {},
  glyphs: '/fonts/{fontstack}/{range}.pbf',
  layers: [{ id: 'background', type: 'background', paint: { 'background-color': '#f6f4ee' } }],
}

export const newMapQuery = (client: Client, { dataset, base }: NewMapOptions) =>
  queryOptions({
    queryKey: queryKeys.styles.part('new', { dataset, base }),
    // Not cached, because every new map is a new document.
    gcTime: 0,
    staleTime: 0,
    async queryFn({ signal, client: queries }): Promise<MapDocument> {
      const [record, baseStyle] = await Promise.all([
        dataset ? client.datasets.get(dataset, { signal }) : null,
        readBase(client, base, signal),
      ])
      const empty = withBase(emptyStyle, baseStyle.style, baseStyle.id, baseStyle.dark)
      if (!record) return { name: 'New map', description: '', style: empty }
      if (!geometryOf(record)) throw new Error(`“${record.name}” has no geometry, so it cannot be shown on a map.`)
      const tilesId = await findTilesId(client, record.id)
      const plain = newLayer(recipesOf(empty), record, tilesId, themeOfStyle(empty))
      const layer = await lookedRecipe(plain, record, themeOfStyle(empty), { client, queries })
      return { name: record.name, description: '', style: withLayer(empty, layer) }
    },
  })

export interface BaseMapStyles {
  id: string | null
  style: StyleSpecification
  /** For readers who prefer dark pages. */
  dark?: StyleSpecification
}

/** The style with the id; by default the application's light base style, otherwise the server's. */
export async function readBase(client: Client, id: string | undefined, signal?: AbortSignal): Promise<BaseMapStyles> {
  if (id === noBaseId) return { id, style: emptyStyle }
  if (id === readerBaseId) {
    const [light, dark] = await Promise.all(
      (['light', 'dark'] as const).map((theme) => themedBase(client, theme, signal)),
    )
    if (light && dark) return { id, style: light.style, dark: dark.style }
  }
  if (id && id !== readerBaseId) return { id, style: await readStyle(client, id, signal) }
  return themedBase(client, 'light', signal)
}

/** The application's own, or the server's. */
async function themedBase(client: Client, theme: 'light' | 'dark', signal?: AbortSignal): Promise<BaseMapStyles> {
  const styles = await client.styles.list({ fields: ['id', 'metadata'], signal })
  const own = styles.find(({ metadata }) => metadata.base === theme)
  if (!own) return { id: null, style: await readDefaultBase(theme) }
  return { id: own.id, style: await readStyle(client, own.id, signal) }
}

const readStyle = async (client: Client, id: string, signal?: AbortSignal): Promise<StyleSpecification> =>
  (await client.styles.get(id, { signal })).style as unknown as StyleSpecification

function withLayer(style: StyleSpecification, layer: LayerRecipe): StyleSpecification {
  const recipes = recipesOf(style)
  return withRecipes(style, { ...recipes, layers: [layer, ...recipes.layers] })
}

/** Layer ids are short and unique in a map. */
export function newLayer(
  { layers }: Recipes,
  dataset: Pick<DatasetSummary, 'id' | 'name' | 'attributes'>,
  tilesId: string,
  theme: 'light' | 'dark',
): LayerRecipe {
  const numbers = layers.map(({ id }) => Number(/^data-(\d+)$/.exec(id)?.[1] ?? 0))
  const id = `data-${Math.max(0, ...numbers) + 1}`
  return defaultRecipe({ id, dataset, tilesId, index: layers.length, theme })
}
