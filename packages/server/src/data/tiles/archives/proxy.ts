// Tile proxy: tiles from another server.

import { once } from '../../../kernel/concurrency/once.ts'
import { ApiError } from '../../../kernel/errors.ts'
import {
  type ArchiveInfo,
  type Fetch,
  fetchTimeoutMs,
  maxTileBytes,
  type OpenArchive,
  type StoredTile,
  type TileFormat,
} from './archive.ts'
import { versionOf, world } from './description.ts'
import { broken, encodingOf, formatOfName, imageFormatOf, kindOf, storedTile } from './tile-content.ts'

const maxZoom = 22

/** Requests every tile from the other server. Compressed tiles are passed on as they are. */
export function openProxy(template: string, fetch: Fetch): OpenArchive {
  const named = formatOfAddress(template)

  async function tile(z: number, x: number, y: number, signal?: AbortSignal): Promise<StoredTile | undefined> {
    const response = await fetch(addressOf(template, z, x, y), {
      headers: { accept: 'image/*, application/x-protobuf, application/vnd.mapbox-vector-tile, */*;q=0.1' },
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxTileBytes,
      isEncodedWelcome: true,
      ...(signal ? { signal } : {}),
    })
    if (response.status === 404 || response.status === 204) return undefined
    if (response.status !== 200) {
      throw new ApiError('upstream_failed', `The tile server answered with status ${response.status}.`)
    }
    // Brotli is the only encoding without a magic number.
    if (response.headers['content-encoding'] === 'br') return { bytes: response.body, encoding: 'br' }
    if (named) checkContent(response.body, named)
    return await storedTile(response.body)
  }

  async function describe(): Promise<ArchiveInfo> {
    const format = named ?? formatOfTile(await tile(0, 0, 0))
    const version = versionOf(template)
    return { kind: kindOf(format), format, minZoom: 0, maxZoom, bounds: world, vectorLayers: [], version }
  }

  return {
    info: once(describe),
    tile,
    isStale: async () => false,
    close: async () => {},
  }
}

function addressOf(template: string, z: number, x: number, y: number): string {
  const values: Record<string, string> = { z: `${z}`, x: `${x}`, y: `${y}`, '-y': `${2 ** z - 1 - y}` }
  return template.replaceAll(/\{([^{}]*)\}/g, (_, name) => values[name] ?? '')
}

/** `…/{y}.png`, `…/{y}@2x.png?key=…` */
function formatOfAddress(template: string): TileFormat | undefined {
  const [path = ''] = template.split(/[?#]/)
  const [, extension = ''] = /\.(?:vector\.)?(\w+)$/.exec(path) ?? []
  return formatOfName(extension)
}

function formatOfTile(tile: StoredTile | undefined): TileFormat {
  if (!tile) throw broken('has no known format: its address has no extension and there is no tile 0/0/0')
  return imageFormatOf(tile.bytes) ?? 'pbf'
}

/** Refuses an error page that was sent with status 200. */
function checkContent(bytes: Buffer, format: TileFormat): void {
  if (bytes.length === 0) return
  const isImage = imageFormatOf(bytes) !== undefined
  const isText = encodingOf(bytes) === 'identity' && /^\s*[<{[]/.test(bytes.toString('latin1', 0, 100))
  if (format === 'pbf' ? isImage || isText : !isImage) {
    throw new ApiError('upstream_failed', 'The tile server did not answer with a tile.')
  }
}
