// HTTP headers of tiles: ETag, Cache-Control and Vary.
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Compression } from '../../../api/http/answers/compression.ts'
import type { Answer } from '../../../api/http/operation.ts'
import { etagOf, isUnchanged } from '../../../api/resource/revision.ts'
import type { CachedTile } from '../cache/tile-cache.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import type { TileRequest } from './tile-request.ts'
import { type Extension, versionParameter } from './tile-request.ts'

const types: Record<Extension, string> = {
  mvt: 'application/vnd.mapbox-vector-tile',
  pbf: 'application/vnd.mapbox-vector-tile',
  geojson: 'application/geo+json; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
}

const vary = 'accept-encoding, x-api-key, x-svc-api-key, authorization, authentication'

/** The compressed and the plain form are different representations, so each has its own ETag. */
export const revisionOf = ({ etag }: CachedTile, compression: Compression): string => `${etag}-${compression}`

/** The same headers for a tile, an empty tile and a 304. */
export function tileHeaders(
  { source, version, layer }: LoadedTileSource,
  { extension, tree }: TileRequest,
  tile: CachedTile,
  compression: Compression,
): Record<string, string> {
  const namedVersion = tree[versionParameter]
  const headers: Record<string, string> = {
    'content-type': types[extension],
    // A URL with the current version is immutable; any other is revalidated each time.
    'cache-control': namedVersion === version ? 'private, max-age=3600' : 'private, no-cache',
    vary,
    etag: etagOf(revisionOf(tile, compression)),
  }
  if (tile.features !== undefined) headers['x-tile-features'] = tile.features
  if (compression !== 'identity') headers['content-encoding'] = compression
  const isOtherVersion = namedVersion !== undefined && namedVersion !== version
  // Tiles of rows that rules show to some are in no shared cache, whatever the tile source says.
  const isUncached = isOtherVersion || Array.isArray(layer?.dataset.rules)
  for (const [name, value] of Object.entries(source.headers)) {
    const lower = name.toLowerCase()
    if (!(isUncached && caching.has(lower))) headers[lower] = value
  }
  return headers
}

/**
 * Not sent where the address names another version: for up to a second a replica does not know the newest one, and a shared cache
 * would keep the old tile under the address of the new one.
 */
const caching = new Set(['cache-control', 'expires', 'surrogate-control'])

/** Serves a TileJSON, or 304 if the client already has it. */
export function described(request: FastifyRequest, body: object, headers: Record<string, string> = {}): Answer {
  const json = JSON.stringify(body)
  const revision = hash('sha1', json, 'base64url').slice(0, 16)
  const tagged = { ...headers, etag: etagOf(revision) }
  return isUnchanged(request, revision) ? { status: 304, headers: tagged } : { json, headers: tagged }
}
