// Detects the format and compression of tiles by their magic numbers.
import { inflate } from 'node:zlib'
import { ApiError } from '../../../kernel/errors.ts'
import { maxTileBytes, type StoredTile, type TileFormat } from './archive.ts'

/** By the first bytes; undefined if it is not an image. */
export function imageFormatOf(bytes: Buffer): Exclude<TileFormat, 'pbf'> | undefined {
  const text = bytes.toString('latin1', 0, 12)
  if (text.startsWith('\x89PNG')) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpg'
  if (text.startsWith('RIFF') && text.endsWith('WEBP')) return 'webp'
  if (/^.{4}ftypavi[fs]/s.test(text)) return 'avif'
  return undefined
}

/** The names of formats in archives and URLs. */
export function formatOfName(name: string): TileFormat | undefined {
  const formats: Record<string, TileFormat> = {
    pbf: 'pbf',
    mvt: 'pbf',
    'application/x-protobuf': 'pbf',
    'application/vnd.mapbox-vector-tile': 'pbf',
    png: 'png',
    png8: 'png',
    'image/png': 'png',
    jpg: 'jpg',
    jpeg: 'jpg',
    'image/jpeg': 'jpg',
    webp: 'webp',
    'image/webp': 'webp',
    avif: 'avif',
    'image/avif': 'avif',
  }
  const key = name.trim().toLowerCase()
  return Object.hasOwn(formats, key) ? formats[key] : undefined
}

export const kindOf = (format: TileFormat) => (format === 'pbf' ? 'vector' : 'raster')

/** By the first bytes: neither a vector tile nor an image begins like compressed data. */
export function encodingOf(bytes: Buffer): 'identity' | 'gzip' | 'zstd' | 'zlib' {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip'
  if (bytes.length > 3 && bytes.readUInt32LE() === 0xfd2fb528) return 'zstd'
  if (bytes[0] === 0x78 && bytes.length > 1 && bytes.readUInt16BE() % 31 === 0) return 'zlib'
  return 'identity'
}

/** Raw zlib is decompressed, because HTTP has no content encoding for it; other encodings are kept. */
export async function storedTile(bytes: Buffer): Promise<StoredTile | undefined> {
  if (bytes.length === 0) return undefined
  const encoding = encodingOf(bytes)
  return encoding === 'zlib' ? { bytes: await inflated(bytes), encoding: 'identity' } : { bytes, encoding }
}

function inflated(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    inflate(bytes, { maxOutputLength: maxTileBytes }, (cause, unpacked) =>
      cause ? reject(broken('holds a tile that cannot be unpacked', cause)) : resolve(unpacked),
    )
  })
}

/** The error for a malformed archive. */
export const broken = (fault: string, cause?: unknown): ApiError =>
  new ApiError('upstream_failed', `The tile archive ${fault}.`, { cause })
