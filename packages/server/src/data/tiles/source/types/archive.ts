// Tile sources of type tilelive: ready-made tiles in an archive (MBTiles, PMTiles) or behind a URL with {z}/{x}/{y}.

import { type Compression, unpack } from '../../../../api/http/answers/compression.ts'
import { invalid } from '../../../../kernel/errors.ts'
import { digestOf } from '../../../../kernel/storage/local-ranges.ts'
import type { StoredTile } from '../../archives/archive.ts'
import { checkArchiveUri, parseArchiveUri } from '../../archives/archive-uri.ts'
import { type CachedTile, formsOf } from '../../cache/tile-cache.ts'
import { tileBuffer, tileExtent } from '../../sql/tile-sql.ts'
import type { TileSourceType } from '../tile-source-type.ts'
import { digestVersion } from '../tile-version.ts'

/** A remote server does not report changes: its tiles are considered unchanged for this long. */
const proxyMs = 60_000

export const archiveType: TileSourceType = {
  async resolve({ filesOf }, applicationId, source) {
    const uri = parseArchiveUri(source)
    if (!('file' in uri)) return
    const stats = await filesOf(applicationId).stat(uri.file)
    if (!stats) throw invalid('body/source', 'There is no file of tiles with this name.')
  },
  async detect({ archives }, applicationId, source) {
    checkArchiveUri(source)
    const { minZoom, maxZoom, bounds, attribution, name } = await archives.info(applicationId, source)
    return { minZoom, maxZoom, extentLngLat: bounds, ...(attribution && { attribution }), ...(name && { name }) }
  },
  mayBeUnreachable: true,
  async load({ archives }, source, revision) {
    const archive = await archives.info(source.applicationId, source.source)
    const era = /^https?:/i.test(source.source) ? Math.floor(Date.now() / proxyMs) : ''
    const name = source.name || archive.name || source.id
    return { source, archive, name, version: digestVersion(revision, archive.version, `${era}`) }
  },
  async makeTile({ archives, workers }, { source }, { tile, extension }, compression, signal) {
    const stored = await archives.of(source.applicationId, source.source).tile(tile.z, tile.x, tile.y, signal)
    if (!stored) return undefined
    if (extension !== 'geojson') return asItIs(stored)
    const encoded = await unpack(stored.bytes, stored.encoding)
    const encoder = { tile, columns: [], projection: 'lonlat', extent: tileExtent, buffer: tileBuffer } as const
    const { applicationId } = source
    const job = { rows: { encoded }, encoder, compression, asGeoJson: true }
    const made = await workers.make(job, signal, { applicationId })
    return { forms: formsOf(made, compression), etag: made.etag }
  },
  readTileNow({ archives }, { source }, { tile, extension }) {
    if (extension === 'geojson') return undefined
    const stored = archives.of(source.applicationId, source.source).tileNow?.(tile.z, tile.x, tile.y)
    return stored ? asItIs(stored) : stored
  },
}

const asItIs = ({ bytes, encoding, digest = digestOf(bytes) }: StoredTile): CachedTile => ({
  forms: new Map<Compression, Uint8Array>([[encoding, bytes]]),
  etag: digest,
})
