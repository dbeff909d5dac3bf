/** The picture of a map as it is stored with it; drawn and stored where there is none. */
import type { Client, Style } from '@graticule/client'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import type { QueryClient } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'

/** `version`: the style's `updatedAt`. */
export const pictureKey = (styleId: string, version: string) => queryKeys.styles.one(styleId, 'picture', version)

interface PictureOptions {
  mayStore: boolean
  signal: AbortSignal
}

export async function storedPicture(client: Client, id: string, { mayStore, signal }: PictureOptions): Promise<string> {
  const stored = await client.styles.getPicture(id, { signal })
  if (stored !== null) return stored
  const { style } = await client.styles.get(id, { signal })
  const { drawPicture } = await import('./draw-picture.ts')
  const picture = await drawPicture(client, style as unknown as StyleSpecification, signal)
  // Whoever sees the list next draws it otherwise: that is no reason for a message.
  if (mayStore) await client.styles.setPicture(id, picture).catch(() => undefined)
  return picture
}

/** After the map was saved. */
export async function renewPicture(
  client: Client,
  queries: QueryClient,
  { id, updatedAt, style }: Style,
): Promise<void> {
  const { drawPicture } = await import('./draw-picture.ts')
  const picture = await drawPicture(client, style as unknown as StyleSpecification)
  await client.styles.setPicture(id, picture)
  queries.setQueryData(pictureKey(id, updatedAt), picture)
}
