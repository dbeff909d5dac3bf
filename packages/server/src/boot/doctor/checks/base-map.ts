import { openArchive } from '../../../data/tiles/archives/open-archive.ts'
import { archiveUriOf } from '../../../data/tiles/basemap/basemap-address.ts'
import { loadStreetTiles } from '../../../data/tiles/basemap/street-tiles.ts'
import { builtInApplication } from '../../../data/tiles/tiling.ts'
import { isLaptop } from '../../../kernel/egress/denied-services.ts'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { folderOf } from '../../../kernel/storage/file-store.ts'
import { openFileStore } from '../../../kernel/storage/open-file-store.ts'
import { type Check, messageOf, ok, warning } from '../check.ts'

/** The streets of the base map: reachable, and drawn by the base styles. */
export const baseMapCheck: Check = {
  name: 'base map',
  applies: ({ BASEMAP_URL }) => BASEMAP_URL !== undefined,
  async run({ config }) {
    const { BASEMAP_URL: address = '' } = config
    const platform = config.database === undefined ? ({ kind: 'embedded' } as const) : ({ kind: 'postgres' } as const)
    const mayReachLoopback = await isLaptop(config, platform.kind)
    const egress = createEgress({ allow: config.EGRESS_ALLOW, mayReachLoopback })
    const store = await openFileStore(config, () => {})
    const files = folderOf(store, 'basemap/')
    const info = async (_: string, uri: string) => {
      const archive = await openArchive(uri, { files, fetch: egress.fetch })
      return await archive.info().finally(archive.close)
    }
    try {
      const { source } = await loadStreetTiles({ info }, builtInApplication, archiveUriOf(address))
      const text = `The streets of the base map answer, to zoom ${source.maxZoom}.`
      if (source.attribution !== '') return ok(text)
      return warning(`${text} They name no source.`, 'Say on your maps where they come from, as their licence asks.')
    } catch (error) {
      return warning(
        `The streets of the base map cannot be loaded, so maps show the bundled world: ${messageOf(error)}`,
        'Correct BASEMAP_URL; a server on a private address has to be in EGRESS_ALLOW.',
      )
    } finally {
      await Promise.all([egress.close(), store.close()])
    }
  },
}
