/** A tile set: its TileJSON, and its record if it has one. */
import { ApiError, type Client, type TileSource } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

export interface TileJson {
  name: string
  description?: string
  tiles: string[]
  minzoom: number
  maxzoom: number
  bounds: [number, number, number, number]
  attribution?: string
  format?: string
  vector_layers?: {
    id: string
    description?: string
    minzoom?: number
    maxzoom?: number
    fields: Record<string, string>
  }[]
}

/** The built-in base map, which has no record and no explain. */
export const builtIn = 'basemap'

export function useTileJson(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.tilesources.one(id, 'tilejson'),
    queryFn: ({ signal }) => client.tiles.describe<TileJson>(id, { signal }),
  })
}

/** Null if the id belongs to a dataset, whose tiles need no record. */
export function useTileSource(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.tilesources.one(id),
    queryFn: ({ signal }) => readTileSource(client, id, signal),
  })
}

async function readTileSource(client: Client, id: string, signal: AbortSignal): Promise<TileSource | null> {
  if (id === builtIn) return null
  try {
    return await client.tileSources.get(id, { signal })
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 401)) return null
    throw error
  }
}

/** The extension of the URL template: `mvt`, `pbf`, `png` … */
export const extensionOf = ({ tiles }: Pick<TileJson, 'tiles'>): string =>
  /\{y\}\.(\w+)/.exec(tiles[0] ?? '')?.[1] ?? 'mvt'

export const isVector = ({ vector_layers: layers }: Pick<TileJson, 'vector_layers'>): boolean => layers !== undefined

/** 512 pixels for vector tiles, 256 for images. */
export const tileSizeOf = (tileJson: Pick<TileJson, 'vector_layers'>): number => (isVector(tileJson) ? 512 : 256)
