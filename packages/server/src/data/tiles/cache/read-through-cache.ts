// A read-through, single-flight cache of tiles.

import {
  type Compression,
  chooseCompression,
  compress,
  compressions,
  unpack,
  worthCompressing,
} from '../../../api/http/answers/compression.ts'
import { createSingleFlight } from '../../../kernel/concurrency/single-flight.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import { report } from '../../../kernel/events.ts'
import { type Extension, requestKey, type TileRequest } from '../http/tile-request.ts'
import { touches } from '../source/tile-bounds.ts'
import type { LoadedTileSource, TileMakers } from '../source/tile-source-type.ts'
import { tileSourceTypeOf } from '../source/tile-source-types.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { checkParameters } from '../strategy/dataset-tiles.ts'
import { createPendingSlots, type TileUse } from './pending-slots.ts'
import { createQuickTiles } from './quick-tiles.ts'
import { type CachedTile, shareOf, type TileCache } from './tile-cache.ts'

export type ReadTile = {
  readonly tile: CachedTile
  readonly compression: Compression
  /** Empty if there is nothing to draw. */
  readonly bytes: Uint8Array
}

/** Serves tiles in their transfer form, cached ones at once. Concurrent requests for a missing tile share one build. */
export type ReadThroughCache = {
  get(loaded: LoadedTileSource, request: TileRequest, leaving: () => AbortSignal): ReadTile | Promise<ReadTile>
  /** The tile if it can be sent at once: from the cache, or from a file that lies in memory. */
  ready(loaded: LoadedTileSource, request: TileRequest): ReadTile | undefined
  /**
   * A way to make the tile without a promise, where tiles like it were made a moment ago. It answers false if there is no place now;
   * otherwise `done` is called later, with nothing if the tile has to be made by `get`.
   */
  quick(loaded: LoadedTileSource, request: TileRequest): QuickTile | undefined
  has(loaded: LoadedTileSource, request: TileRequest): boolean
}

export type QuickTile = (done: (read: ReadTile | undefined) => void) => boolean

export type ReadThroughOptions = TileMakers & { cache: TileCache; use?: TileUse | undefined }

/** An empty tile; in GeoJSON that is an empty FeatureCollection. */
function emptyTile(extension: Extension): CachedTile {
  const bytes = extension === 'geojson' ? noFeatures : new Uint8Array()
  return { forms: new Map<Compression, Uint8Array>([['identity', bytes]]), etag: `empty${bytes.length}` }
}
const noFeatures = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [] }))
const plainOnly: readonly Compression[] = ['identity']
const images = new Set<Extension>(['png', 'jpg', 'jpeg', 'webp', 'avif'])

export function createReadThroughCache(options: ReadThroughOptions): ReadThroughCache {
  const { cache, workers, use } = options
  const noteServed = servedNoter(use)
  const flights = createSingleFlight<CachedTile>()

  async function make(loaded: LoadedTileSource, request: TileRequest, signal: AbortSignal): Promise<CachedTile> {
    const compression = chooseCompression(request.accept, compressions) ?? 'identity'
    const made = await tileSourceTypeOf(loaded.source).makeTile(options, loaded, request, compression, signal)
    return made ?? emptyTile(request.extension)
  }

  const slots = createPendingSlots(workers.capacity, use)
  const quickTiles = createQuickTiles({ cache, keyOf, small: workers.small, tryEnter: slots.tryEnter })

  const find = (
    loaded: LoadedTileSource,
    request: TileRequest,
    key: string,
    signal: AbortSignal,
  ): Promise<CachedTile> =>
    flights.join(key, signal, async (end) => {
      const tile = await slots.within(loaded.source.applicationId, () => make(loaded, request, end))
      cache.put(shareOf(loaded), key, tile)
      return tile
    })

  function readNow(loaded: LoadedTileSource, request: TileRequest, key: string): CachedTile | undefined {
    if (isBeyond(loaded, request)) return undefined
    const stored = tileSourceTypeOf(loaded.source).readTileNow?.(options, loaded, request)
    const tile = stored === null ? emptyTile(request.extension) : stored
    if (tile) cache.put(shareOf(loaded), key, tile)
    return tile
  }

  return {
    ready(loaded, request) {
      const key = keyOf(loaded, request)
      const kept = cache.get(shareOf(loaded), key)
      const tile = kept ?? readNow(loaded, request, key)
      if (tile) return noteServed(loaded, readyTile(tile, request), kept !== undefined)
      const isBare = (loaded.parameters?.size ?? 0) === 0
      return isBare && isBeyond(loaded, request) ? readyTile(tileBeyond(loaded, request), request) : undefined
    },
    quick(loaded, request) {
      const begin = quickTiles.of(loaded, request)
      return begin && ((done) => begin((tile) => done(noteServed(loaded, tile && readyTile(tile, request), false))))
    },
    has: (loaded, request) => cache.get(shareOf(loaded), keyOf(loaded, request)) !== undefined,
    get(loaded, request, leaving) {
      const key = keyOf(loaded, request)
      const owner = shareOf(loaded)
      const kept = cache.get(owner, key)
      if (!kept && isBeyond(loaded, request)) {
        checkParameters(loaded, request.parameters, request.tree)
        return inForm(tileBeyond(loaded, request), request, () => {})
      }
      noteServed(loaded, true, kept !== undefined)
      const onGrown = (): void => cache.grow(owner, key)
      return whenReady(kept ?? find(loaded, request, key, leaving()), (tile) => inForm(tile, request, onGrown))
    },
  }
}

/** Whether no row can be in the tile. A cell may reach into tiles in which none is. */
const isBeyond = ({ source, isExtentEstimated }: LoadedTileSource, { tile, parameters }: TileRequest): boolean =>
  parameters.aggregate === undefined && !isExtentEstimated && !touches(tile, source.extentLngLat, tileMargin)

const tileBeyond = ({ layer }: LoadedTileSource, { extension }: TileRequest): CachedTile => ({
  ...emptyTile(extension),
  ...(layer && { features: '0/0' }),
})

/** Counts a tile that is there. */
const servedNoter =
  (use: TileUse | undefined) =>
  <T>({ layer, source }: LoadedTileSource, ready: T, isCached: boolean): T => {
    if (!ready) return ready
    report('tile', { of: layer ? 'dataset' : 'archive', isCached })
    use?.served(source.applicationId, isCached)
    return ready
  }

const keyOf = (loaded: LoadedTileSource, { tile, extension, tree }: TileRequest): string =>
  `${loaded.source.id} ${loaded.version} ${requestKey(tile, extension, tree)}`

/** A cached form that the client accepts; otherwise its preferred form, made once. */
function inForm(tile: CachedTile, request: TileRequest, onGrown: () => void): ReadTile | Promise<ReadTile> {
  return readyTile(tile, request) ?? makeForm(tile, request, onGrown)
}

function readyTile(tile: CachedTile, request: TileRequest): ReadTile | undefined {
  const compression = readyForm(tile.forms, request)
  const bytes = compression && tile.forms.get(compression)
  return compression && bytes && { tile, compression, bytes }
}

function readyForm(forms: CachedTile['forms'], { accept, extension }: TileRequest): Compression | undefined {
  const plain = forms.get('identity')
  if (plain && (images.has(extension) || plain.byteLength === 0)) return 'identity'
  if (plain && plain.byteLength < worthCompressing && chooseCompression(accept, plainOnly)) return 'identity'
  const ready = chooseCompression(accept, [...forms.keys()])
  return ready === 'identity' && chooseCompression(accept, compressions) !== 'identity' ? undefined : ready
}

async function makeForm(tile: CachedTile, { accept }: TileRequest, onGrown: () => void): Promise<ReadTile> {
  const { forms } = tile
  const compression = chooseCompression(accept, compressions) ?? 'identity'
  const [kind = 'identity', stored = new Uint8Array()] = [...forms][0] ?? []
  const bytes = await compress(forms.get('identity') ?? (await unpack(stored, kind)), compression)
  forms.set(compression, bytes)
  onGrown()
  return { tile, compression, bytes }
}
