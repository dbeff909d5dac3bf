import { hash } from 'node:crypto'
import { report } from '../events.ts'
import {
  type Compression,
  chooseCompression,
  compress,
  compressions,
  unpack,
  worthCompressing,
} from '../http/compression.ts'
import type { QueryTree } from '../http/query-string.ts'
import type { Archives } from './archives/archives.ts'
import { checkParameters, type DatasetTileServices, makeDatasetTile } from './dataset-tiles.ts'
import { createFlights } from './flights.ts'
import { touches } from './grid.ts'
import type { Known } from './known-sources.ts'
import type { Tile } from './mvt/projection.ts'
import type { CachedTile, TileCache } from './tile-cache.ts'
import type { MadeTile } from './tile-job.ts'
import { type Extension, requestKey, type TileParameters } from './tile-request.ts'
import { tileBuffer, tileExtent, tileMargin } from './tile-sql.ts'
import { tooBusy } from './tile-workers.ts'

export type TileAsked = {
  readonly tile: Tile
  readonly extension: Extension
  readonly parameters: TileParameters
  /** All that the address says. */
  readonly tree: QueryTree
  /** `Accept-Encoding`. */
  readonly accept: string | undefined
}

export type ServedTile = {
  readonly tile: CachedTile
  readonly compression: Compression
  /** Empty: there is nothing to see. */
  readonly bytes: Uint8Array
  readonly isHit: boolean
}

/** Tiles as they are sent: from the cache, or made once for all who ask at the same time. */
export type ServedTiles = {
  get(known: Known, asked: TileAsked, leaving: () => AbortSignal): Promise<ServedTile>
  has(known: Known, asked: TileAsked): boolean
}

export type ServedTilesOptions = DatasetTileServices & { archives: Archives; cache: TileCache }

/** Nothing to see; GeoJSON says so in its own words. */
function emptyTile(extension: Extension): CachedTile {
  const bytes = extension === 'geojson' ? noFeatures : new Uint8Array()
  return { forms: new Map([['identity', bytes]]), etag: `empty${bytes.length}` }
}
const noFeatures = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [] }))
const images = new Set<Extension>(['png', 'jpg', 'jpeg', 'webp', 'avif'])

export function createServedTiles(options: ServedTilesOptions): ServedTiles {
  const { cache, archives, workers } = options
  const flights = createFlights<CachedTile>()

  async function make(known: Known, asked: TileAsked, signal: AbortSignal): Promise<CachedTile> {
    const compression = chooseCompression(asked.accept, compressions) ?? 'identity'
    const { tile, extension, parameters, tree } = asked
    const asGeoJson = extension === 'geojson'
    if (known.dataset) {
      const request = { tile, parameters, given: tree, asGeoJson, compression }
      const { made, features } = await makeDatasetTile(options, known, request, signal)
      reportMade(made)
      return { forms: formsOf(made, compression), etag: made.etag, features }
    }
    const { applicationId, source } = known.source
    const archive = await archives.open(applicationId, source)
    const stored = await archive.tile(tile.z, tile.x, tile.y, signal)
    if (!stored) return emptyTile(extension)
    if (!asGeoJson) {
      return {
        forms: new Map([[stored.encoding, stored.bytes]]),
        etag: hash('sha1', stored.bytes, 'base64url').slice(0, 16),
      }
    }
    const encoded = await unpack(stored.bytes, stored.encoding)
    const encoder = { tile, columns: [], projection: 'lonlat', extent: tileExtent, buffer: tileBuffer } as const
    const made = await workers.make({ rows: { encoded }, encoder, compression, asGeoJson }, signal)
    return { forms: formsOf(made, compression), etag: made.etag }
  }

  const keyOf = (known: Known, { tile, extension, tree }: TileAsked): string =>
    `${known.source.id} ${known.version} ${requestKey(tile, extension, tree)}`

  /** One application cannot take all the places: the others' maps go on. */
  const inTheMaking = new Map<string, number>()
  async function withPlace<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const others = inTheMaking.get(owner) ?? 0
    if (others >= workers.capacity / 2) throw tooBusy()
    inTheMaking.set(owner, others + 1)
    try {
      return await work()
    } finally {
      const left = (inTheMaking.get(owner) ?? 1) - 1
      if (left === 0) inTheMaking.delete(owner)
      else inTheMaking.set(owner, left)
    }
  }

  async function find(known: Known, asked: TileAsked, key: string, signal: AbortSignal): Promise<CachedTile> {
    return flights.join(key, signal, async (end) => {
      const tile = await withPlace(known.source.applicationId, () => make(known, asked, end))
      cache.put(known.source.applicationId, key, tile)
      return tile
    })
  }

  return {
    has: (known, asked) => cache.get(known.source.applicationId, keyOf(known, asked)) !== undefined,
    async get(known, asked, leaving) {
      if (!known.isExtentEstimated && !touches(asked.tile, known.source.extentLngLat, tileMargin)) {
        checkParameters(options, known, asked.parameters, asked.tree)
        const tile = { ...emptyTile(asked.extension), ...(known.dataset && { features: '0/0' }) }
        return { tile, ...(await formFor(tile, asked, () => {})), isHit: true }
      }
      const key = keyOf(known, asked)
      const owner = known.source.applicationId
      const kept = cache.get(owner, key)
      report('tile', { of: known.dataset ? 'dataset' : 'archive', isKept: kept !== undefined })
      const tile = kept ?? (await find(known, asked, key, leaving()))
      const form = await formFor(tile, asked, () => cache.grow(owner, key))
      return { tile, ...form, isHit: kept !== undefined }
    },
  }
}

const reportMade = ({ queryMs, encodeMs, compressMs, bytes }: MadeTile): void =>
  report('tileMade', {
    querySeconds: queryMs / 1000,
    encodeSeconds: encodeMs / 1000,
    compressSeconds: compressMs / 1000,
    bytes: bytes.length,
  })

function formsOf(
  { bytes, compressed }: { bytes: Uint8Array; compressed?: Uint8Array },
  compression: Compression,
): Map<string, Uint8Array> {
  // What a form needs of room is counted; the plain one can be had again from the compressed one.
  return compressed ? new Map([[compression, compressed]]) : new Map([['identity', bytes]])
}

/** A form that is there already and that the client takes; otherwise the one it likes best, made once. */
async function formFor(
  { forms }: CachedTile,
  { accept, extension }: TileAsked,
  onGrown: () => void,
): Promise<{ compression: Compression; bytes: Uint8Array }> {
  const there = compressions.filter((compression) => forms.has(compression))
  const plain = forms.get('identity')
  const isPlainTaken = chooseCompression(accept, ['identity']) !== undefined
  const isBestPlain = images.has(extension) || plain?.byteLength === 0
  if (plain && (isBestPlain || (plain.byteLength < worthCompressing && isPlainTaken)))
    return { compression: 'identity', bytes: plain }
  const ready = chooseCompression(accept, there)
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
