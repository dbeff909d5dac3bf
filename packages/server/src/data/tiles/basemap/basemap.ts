/**
 * The base map of `/tiles/basemap`: the bundled world, and the streets of BASEMAP_URL or of an application over it. Streets that
 * cannot be loaded leave the world, so a map is never blank because a server of others is down.
 */
import { LRUCache } from 'lru-cache'
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import type { LoadedTileSource, TileArchives } from '../source/tile-source-type.ts'
import { builtInApplication, bundledWorld } from '../tiling.ts'
import { archiveUriOf } from './basemap-address.ts'
import { loadStreetTiles } from './street-tiles.ts'
import { createStreets, type Streets } from './streets.ts'

/** `streets` are absent where none are set, and where they could not be loaded. */
export type ShownBasemap = {
  readonly world: LoadedTileSource
  readonly streets?: { readonly tiles: LoadedTileSource } & Pick<Streets<LoadedTileSource>, 'noteTile' | 'isDown'>
}

export type Basemap = {
  /** Of an application, which may have its own, or of the installation. At once while the archives are known. */
  get(applicationId?: string): ShownBasemap | Promise<ShownBasemap>
  /** Whether an application chose streets for itself. */
  hasStreets(applicationId: string): Promise<boolean>
}

export type BasemapOptions = {
  readonly archives: TileArchives
  /** BASEMAP_URL */
  readonly address: string | undefined
  /** The address that an application chose for itself; undefined for none. */
  addressOf(applicationId: string): Promise<string | undefined>
  /** Grows when an application was changed here. */
  generation(): number
  /** Told once whenever streets are lost. */
  onError(error: unknown, address: string): void
}

const worldUri = `pmtiles://${bundledWorld}`
/** Streets of so many addresses are known at once, over all applications. */
const maxStreets = 100

export function createBasemap({ archives, address, addressOf, generation, onError }: BasemapOptions): Basemap {
  const worlds = createLoadingCache<LoadedTileSource>({ max: 1 })
  const addresses = createLoadingCache<string | undefined>({ generation })
  const known = new LRUCache<string, Streets<LoadedTileSource>>({ max: maxStreets })

  const streetsAddress = (applicationId: string) => addresses.get(applicationId, () => addressOf(applicationId))
  const world = () => worlds.fresh(worldUri) ?? worlds.get(worldUri, () => loadWorld(archives))

  function streetsOf(applicationId: string, at: string): Streets<LoadedTileSource> {
    const key = `${applicationId} ${at}`
    const streets =
      known.get(key) ??
      createStreets({ load: () => loadStreets(archives, applicationId, at), onError: (error) => onError(error, at) })
    known.set(key, streets)
    return streets
  }

  async function shown(applicationId: string | undefined): Promise<ShownBasemap> {
    const tenantAddress = applicationId && (await streetsAddress(applicationId))
    const chosen = tenantAddress
      ? streetsOf(applicationId, tenantAddress)
      : address && streetsOf(builtInApplication, address)
    const [base, tiles] = await Promise.all([world(), chosen ? chosen.get() : undefined])
    return chosen && tiles ? { world: base, streets: { ...chosen, tiles } } : { world: base }
  }

  return {
    hasStreets: async (applicationId) => Boolean(await streetsAddress(applicationId)),
    get(applicationId) {
      const ready = applicationId === undefined && address === undefined && world()
      return ready && !(ready instanceof Promise) ? { world: ready } : shown(applicationId)
    },
  }
}

async function loadStreets(archives: TileArchives, applicationId: string, at: string): Promise<LoadedTileSource> {
  return await loadStreetTiles(archives, applicationId, archiveUriOf(at))
}

async function loadWorld(archives: TileArchives): Promise<LoadedTileSource> {
  const archive = await archives.info(builtInApplication, worldUri)
  const { minZoom, maxZoom, bounds, attribution = '' } = archive
  return {
    source: {
      id: 'basemap',
      applicationId: builtInApplication,
      type: 'tilelive',
      source: worldUri,
      name: '',
      attribution,
      minZoom,
      maxZoom,
      extentLngLat: bounds,
      headers: { 'cache-control': 'public, max-age=86400' },
      metadata: {},
    },
    archive,
    name: archive.name ?? 'World',
    version: archive.version,
  }
}
