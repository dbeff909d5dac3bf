/** Serves a new dataset as map tiles, if it has a geometry. */
import { ApiError, type Client, type Dataset } from '@graticule/client'

export async function makeTiles(client: Client, { id, attributes }: Dataset): Promise<void> {
  if (!attributes.some(({ type }) => type === 'geometry')) return
  await client.tileSources.create({ type: 'dataset', source: id }).catch((error: unknown) => {
    // A source that needs parameters has no tiles without them; the dataset itself was created.
    if (!(error instanceof ApiError) || error.status !== 400) throw error
  })
}
