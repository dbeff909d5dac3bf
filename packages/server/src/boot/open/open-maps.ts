/** Files, tiles, and what maps need besides. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BaseServices } from '../../api/resource/resource.ts'
import type { TileUse } from '../../data/tiles/cache/pending-slots.ts'
import type { TilesOptions } from '../../data/tiles/http/tile-services.ts'
import { createTiling, type Tiling, type TilingOptions } from '../../data/tiles/tiling.ts'
import { bytesIn, createStorageQuota } from '../../data/uploads/http/storage-quota.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Egress } from '../../kernel/egress/guard.ts'
import { createDirectoryStore } from '../../kernel/storage/directory-store.ts'
import { openFileStore } from '../../kernel/storage/open-file-store.ts'
import { application } from '../../tenants/applications/application.ts'
import { createFonts } from '../../tenants/cartography/maps/fonts.ts'
import { createSprites } from '../../tenants/cartography/maps/sprites.ts'
import { createGazetteer } from '../../tenants/cartography/places/gazetteer.ts'
import { createGeocoder } from '../../tenants/cartography/places/geocoder.ts'
import { createPlaces, type Places } from '../../tenants/cartography/places/places.ts'
import type { ServiceOptions } from './service-options.ts'

/** The base map, fonts and sprites that come with the service. */
const assetsDirectory = fileURLToPath(new URL('../../../../assets', import.meta.url))

type MapParts = Pick<ServiceOptions, 'db' | 'config'> &
  Pick<TilingOptions, 'connections' | 'sources' | 'fetch' | 'jobs' | 'share' | 'onError'>

export async function createMaps({ config, ...parts }: MapParts) {
  const files = await openFileStore(config, parts.onError)
  const { TILE_CACHE_MB: cacheMb, OVERVIEW_MIN_ROWS: overviewMinRows } = config
  const maxConnections = config.TILE_CONNECTIONS
  const overviews = { overviewMinRows, overviewRebuildMs: config.OVERVIEW_REBUILD_SECONDS * 1000 }
  const quota = createStorageQuota(files, config.STORAGE_PER_APPLICATION)
  const storageLeft = async (applicationId: string) => (await quota.measure(parts.db, applicationId)).left(parts.db)
  const budget = budgetOf(config)
  const limits = { cacheMb, ...overviews, maxConnections, storageLeft, budget }
  return {
    files,
    tiling: createTiling({ ...parts, ...limits, files, assetsDirectory, dataDirectory: config.DATA_DIR }),
    fonts: await createFonts([createDirectoryStore(assetsDirectory), files], parts.onError),
    sprites: await createSprites(join(assetsDirectory, 'sprites')),
    fileBytesOf: (applicationId: string) => bytesIn(files, applicationId),
  }
}

/** How tiles are made and served. */
export function tilesOptionsOf(
  { config, db, logger }: ServiceOptions,
  tiling: Tiling,
  use: TileUse | undefined,
  { generations }: Pick<BaseServices, 'generations'>,
): TilesOptions {
  const basemap: TilesOptions['basemap'] = {
    address: config.BASEMAP_URL,
    addressOf: (applicationId) => basemapOf(db, applicationId),
    generation: () => generations.of(application),
    onError(error, address) {
      const basemap = address.replace(/\?.*$/s, '')
      logger.warn({ err: error, basemap }, 'the base map of streets cannot be loaded: the bundled world is shown')
    },
  }
  return { tiling, use, basemap, budget: budgetOf(config) }
}

export function placesOf({ config, logger }: ServiceOptions, { fetch }: Pick<Egress, 'fetch'>): Places {
  const { GEOCODER_URL: address } = config
  const onError = (error: unknown) => logger.warn({ err: error }, 'the geocoder failed: only bundled places are found')
  const gazetteer = createGazetteer(join(assetsDirectory, 'gazetteer.tsv.gz'))
  return createPlaces(gazetteer, address === undefined ? undefined : createGeocoder({ address, fetch, onError }))
}

async function basemapOf(db: Db, applicationId: string): Promise<string | undefined> {
  const [row] = await db.query<{ basemap: string | null }>(
    sql`SELECT basemap FROM svc.applications WHERE id = ${applicationId}::uuid`,
  )
  return row?.basemap ?? undefined
}

const budgetOf = ({ TILE_MAX_FEATURES: maxFeatures, TILE_MAX_BYTES: maxBytes }: ServiceOptions['config']) => ({
  maxFeatures,
  maxBytes,
})
