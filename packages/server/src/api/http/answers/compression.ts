import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

export const compressions = ['identity', 'gzip', 'br', 'zstd'] as const
export type Compression = (typeof compressions)[number]

/** Below this a tile fits into one packet anyway. */
export const worthCompressing = 512

export const isWorthCompressing = (bytes: Uint8Array, compression: Compression): boolean =>
  compression !== 'identity' && bytes.length >= worthCompressing

const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }
const gzipOptions = { level: 4 }

/** Synchronous, for worker threads. */
export function compressNow(bytes: Uint8Array, compression: Compression): Uint8Array {
  if (compression === 'gzip') return zlib.gzipSync(bytes, gzipOptions)
  if (compression === 'br') return zlib.brotliCompressSync(bytes, brotliOptions)
  return compression === 'zstd' ? zlib.zstdCompressSync(bytes) : bytes
}

const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)
const brotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const zstd = promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)

export async function compress(bytes: Uint8Array, compression: Compression): Promise<Uint8Array> {
  if (compression === 'gzip') return gzip(bytes, gzipOptions)
  if (compression === 'br') return brotli(bytes, brotliOptions)
  // Told the size, zstd takes half the time for a few kilobytes.
  return compression === 'zstd' ? zstd(bytes, { pledgedSrcSize: bytes.byteLength }) : bytes
}

/** For bytes that are compressed once and sent often. */
export async function compressWell(bytes: Uint8Array, compression: Compression): Promise<Uint8Array> {
  if (compression === 'br') return brotli(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } })
  return compression === 'gzip' ? gzip(bytes, { level: 9 }) : compress(bytes, compression)
}

/** Limit of unpacked bytes, against decompression bombs in archives. */
const maxUnpacked = 64 * 1024 * 1024

const unpackers = {
  gzip: promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  br: promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
  zstd: promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress),
}

export async function unpack(bytes: Uint8Array, compression: Compression): Promise<Uint8Array> {
  return compression === 'identity' ? bytes : unpackers[compression](bytes, { maxOutputLength: maxUnpacked })
}

/** Our order of preference: smallest and quickest to unpack first. */
const preference: readonly Compression[] = ['zstd', 'br', 'gzip', 'identity']

/** `Accept-Encoding` as RFC 9110 reads it: the best of those with the highest weight; identity unless it is refused. */
export function chooseCompression(
  accept: string | undefined,
  offered: readonly Compression[],
): Compression | undefined {
  for (const name of rankingOf(accept ?? '')) if (offered.includes(name)) return name
  return undefined
}

/** Cache of parsed headers: there are few browsers, each with one header. */
const preferences = new Map<string, readonly Compression[]>()
const maxKnown = 100

/** All that the header accepts, the best first. */
function rankingOf(accept: string): readonly Compression[] {
  const before = preferences.get(accept)
  if (before) return before
  const ranking = readRanking(accept)
  if (preferences.size === maxKnown) preferences.clear()
  preferences.set(accept, ranking)
  return ranking
}

function readRanking(accept: string): Compression[] {
  const weights = readWeights(accept)
  const any = weights.get('*')
  const weightOf = (name: Compression): number =>
    weights.get(name) ??
    (name === 'gzip' ? weights.get('x-gzip') : undefined) ??
    any ??
    (name === 'identity' ? 0.0001 : 0)
  return preference.filter((name) => weightOf(name) > 0).sort((a, b) => weightOf(b) - weightOf(a))
}

function readWeights(accept: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const item of accept.toLowerCase().split(',', 20)) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    const weight = quality === undefined ? 1 : Number(quality.slice(2))
    if (name) weights.set(name, Number.isFinite(weight) ? weight : 0)
  }
  return weights
}
