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
import type { ApiError } from '../../../kernel/errors.ts'
import { report } from '../../../kernel/events.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import { type Extension, requestKey, type TileRequest } from '../http/tile-request.ts'
import { touches } from '../source/tile-bounds.ts'
import type { LoadedTileSource, TileMakers } from '../source/tile-source-type.ts'
import { tileSourceTypeOf } from '../source/tile-source-types.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { checkParameters } from '../strategy/dataset-tiles.ts'
import type { CachedTile, TileCache } from './tile-cache.ts'

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
  has(loaded: LoadedTileSource, request: TileRequest): boolean
}

export type ReadThroughOptions = TileMakers & { cache: TileCache; use?: TileUse | undefined }

/** Told of each tile, for the usage of applications. */
export type TileUse = {
  served(applicationId: string, isCached: boolean): void
  made(applicationId: string, seconds: number): void
}

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
  const flights = createSingleFlight<CachedTile>()

  async function make(loaded: LoadedTileSource, request: TileRequest, signal: AbortSignal): Promise<CachedTile> {
    const compression = chooseCompression(request.accept, compressions) ?? 'identity'
    const made = await tileSourceTypeOf(loaded.source).makeTile(options, loaded, request, compression, signal)
    return made ?? emptyTile(request.extension)
  }

  const withPendingSlot = createPendingSlots(workers.capacity, use)

  async function find(
    loaded: LoadedTileSource,
    request: TileRequest,
    key: string,
    signal: AbortSignal,
  ): Promise<CachedTile> {
    return flights.join(key, signal, async (end) => {
      const tile = await withPendingSlot(loaded.source.applicationId, () => make(loaded, request, end))
      cache.put(loaded.source.applicationId, key, tile)
      return tile
    })
  }

  function readNow(loaded: LoadedTileSource, request: TileRequest, key: string): CachedTile | undefined {
    if (!touches(request.tile, loaded.source.extentLngLat, tileMargin)) return undefined
    const stored = tileSourceTypeOf(loaded.source).readTileNow?.(options, loaded, request)
    const tile = stored === null ? emptyTile(request.extension) : stored
    if (tile) cache.put(loaded.source.applicationId, key, tile)
    return tile
  }

  function noteServed({ layer, source }: LoadedTileSource, isCached: boolean): void {
    report('tile', { of: layer ? 'dataset' : 'archive', isCached })
    use?.served(source.applicationId, isCached)
  }

  return {
    ready(loaded, request) {
      const key = keyOf(loaded, request)
      const kept = cache.get(loaded.source.applicationId, key)
      const tile = kept ?? readNow(loaded, request, key)
      const ready = tile && readyTile(tile, request)
      if (ready) noteServed(loaded, kept !== undefined)
      return ready
    },
    has: (loaded, request) => cache.get(loaded.source.applicationId, keyOf(loaded, request)) !== undefined,
    get(loaded, request, leaving) {
      const key = keyOf(loaded, request)
      const owner = loaded.source.applicationId
      const kept = cache.get(owner, key)
      // A cell may reach into tiles in which no row is.
      const isOfRows = request.parameters.aggregate === undefined
      if (
        !kept &&
        isOfRows &&
        !loaded.isExtentEstimated &&
        !touches(request.tile, loaded.source.extentLngLat, tileMargin)
      ) {
        checkParameters(loaded, request.parameters, request.tree)
        const tile = { ...emptyTile(request.extension), ...(loaded.layer && { features: '0/0' }) }
        return inForm(tile, request, () => {})
      }
      noteServed(loaded, kept !== undefined)
      const onGrown = (): void => cache.grow(owner, key)
      return whenReady(kept ?? find(loaded, request, key, leaving()), (tile) => inForm(tile, request, onGrown))
    },
  }
}

/** Limits one application to half the capacity, so that the others' maps keep working. */
function createPendingSlots(capacity: number, use: TileUse | undefined) {
  const most = Math.ceil(capacity / 2)
  const pendingByOwner = new Map<string, number>()
  return async <T>(owner: string, work: () => Promise<T>): Promise<T> => {
    const others = pendingByOwner.get(owner) ?? 0
    if (others >= most) throw tooManyTiles(most)
    pendingByOwner.set(owner, others + 1)
    const begun = performance.now()
    try {
      return await work()
    } finally {
      use?.made(owner, (performance.now() - begun) / 1000)
      const left = (pendingByOwner.get(owner) ?? 1) - 1
      if (left === 0) pendingByOwner.delete(owner)
      else pendingByOwner.set(owner, left)
    }
  }
}

const tooManyTiles = (most: number): ApiError =>
  overLimit(
    'tilesAtOnce',
    most,
    `This application already waits for ${most} tiles, its limit. Try again in a second.`,
    {
      headers: { 'Retry-After': '1' },
    },
  )

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
