// A read-through, single-flight cache of tiles.
import { report } from '../events.ts'
import {
  type Compression,
  chooseCompression,
  compress,
  compressions,
  unpack,
  worthCompressing,
} from '../http/compression.ts'
import { checkParameters } from './dataset-tiles.ts'
import { createSingleFlight } from './single-flight.ts'
import { touches } from './tile-bounds.ts'
import type { CachedTile, TileCache } from './tile-cache.ts'
import { type Extension, requestKey, type TileAsked } from './tile-request.ts'
import type { LoadedTileSource, TileMakers } from './tile-source-type.ts'
import { tileSourceTypeOf } from './tile-source-types.ts'
import { tileMargin } from './tile-sql.ts'
import { tooBusy } from './tile-workers.ts'

export type ReadTile = {
  readonly tile: CachedTile
  readonly compression: Compression
  /** Empty if there is nothing to draw. */
  readonly bytes: Uint8Array
  readonly isHit: boolean
}

/** Serves tiles in their transfer form. Concurrent requests for a missing tile share one build. */
export type ReadThroughCache = {
  get(known: LoadedTileSource, asked: TileAsked, leaving: () => AbortSignal): Promise<ReadTile>
  has(known: LoadedTileSource, asked: TileAsked): boolean
}

export type ReadThroughOptions = TileMakers & { cache: TileCache }

/** An empty tile; in GeoJSON that is an empty FeatureCollection. */
function emptyTile(extension: Extension): CachedTile {
  const bytes = extension === 'geojson' ? noFeatures : new Uint8Array()
  return { forms: new Map([['identity', bytes]]), etag: `empty${bytes.length}` }
}
const noFeatures = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [] }))
const images = new Set<Extension>(['png', 'jpg', 'jpeg', 'webp', 'avif'])

export function createReadThroughCache(options: ReadThroughOptions): ReadThroughCache {
  const { cache, workers } = options
  const flights = createSingleFlight<CachedTile>()

  async function make(known: LoadedTileSource, asked: TileAsked, signal: AbortSignal): Promise<CachedTile> {
    const compression = chooseCompression(asked.accept, compressions) ?? 'identity'
    const made = await tileSourceTypeOf(known.source).makeTile(options, known, asked, compression, signal)
    return made ?? emptyTile(asked.extension)
  }

  const keyOf = (known: LoadedTileSource, { tile, extension, tree }: TileAsked): string =>
    `${known.source.id} ${known.version} ${requestKey(tile, extension, tree)}`

  /** Limits one application to half the capacity, so that the others' maps keep working. */
  const pendingByOwner = new Map<string, number>()
  async function withPendingSlot<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const others = pendingByOwner.get(owner) ?? 0
    if (others >= workers.capacity / 2) throw tooBusy()
    pendingByOwner.set(owner, others + 1)
    try {
      return await work()
    } finally {
      const left = (pendingByOwner.get(owner) ?? 1) - 1
      if (left === 0) pendingByOwner.delete(owner)
      else pendingByOwner.set(owner, left)
    }
  }

  async function find(
    known: LoadedTileSource,
    asked: TileAsked,
    key: string,
    signal: AbortSignal,
  ): Promise<CachedTile> {
    return flights.join(key, signal, async (end) => {
      const tile = await withPendingSlot(known.source.applicationId, () => make(known, asked, end))
      cache.put(known.source.applicationId, key, tile)
      return tile
    })
  }

  return {
    has: (known, asked) => cache.get(known.source.applicationId, keyOf(known, asked)) !== undefined,
    async get(known, asked, leaving) {
      if (!known.isExtentEstimated && !touches(asked.tile, known.source.extentLngLat, tileMargin)) {
        checkParameters(known, asked.parameters, asked.tree)
        const tile = { ...emptyTile(asked.extension), ...(known.layer && { features: '0/0' }) }
        return { tile, ...(await formFor(tile, asked, () => {})), isHit: true }
      }
      const key = keyOf(known, asked)
      const owner = known.source.applicationId
      const kept = cache.get(owner, key)
      report('tile', { of: known.layer ? 'dataset' : 'archive', isKept: kept !== undefined })
      const tile = kept ?? (await find(known, asked, key, leaving()))
      const form = await formFor(tile, asked, () => cache.grow(owner, key))
      return { tile, ...form, isHit: kept !== undefined }
    },
  }
}

/** A cached form that the client accepts; otherwise its preferred form, made once. */
async function formFor(
  { forms }: CachedTile,
  { accept, extension }: TileAsked,
  onGrown: () => void,
): Promise<{ compression: Compression; bytes: Uint8Array }> {
  const available = compressions.filter((compression) => forms.has(compression))
  const plain = forms.get('identity')
  const isPlainTaken = chooseCompression(accept, ['identity']) !== undefined
  const isBestPlain = images.has(extension) || plain?.byteLength === 0
  if (plain && (isBestPlain || (plain.byteLength < worthCompressing && isPlainTaken)))
    return { compression: 'identity', bytes: plain }
  const ready = chooseCompression(accept, available)
  if (ready !== undefined && (ready !== 'identity' || chooseCompression(accept, compressions) === 'identity')) {
    return { compression: ready, bytes: forms.get(ready) ?? new Uint8Array() }
  }
  const wanted = chooseCompression(accept, compressions) ?? 'identity'
  const [kind = 'identity', stored = new Uint8Array()] = [...forms][0] ?? []
  const bytes = await compress(plain ?? (await unpack(stored, kind as Compression)), wanted)
  forms.set(wanted, bytes)
  onGrown()
  return { compression: wanted, bytes }
}
