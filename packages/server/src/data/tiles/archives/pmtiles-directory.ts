// PMTiles directories: decompression, decoding and lookup.
import { brotliDecompress, gunzip, type ZlibOptions, zstdDecompress } from 'node:zlib'
import { Compression } from 'pmtiles'
import { broken } from './tile-content.ts'

/** A struct of arrays, because an array of objects takes four times the memory. */
export type Directory = { ids: Float64Array; offsets: Float64Array; lengths: Float64Array; runs: Float64Array }

export const bytesOfEntry = 4 * 8

/** The largest decompressed directory. Those of a planet are about 0.4 MB. */
export const maxDirectoryBytes = 2 * 1024 * 1024

/** Decompresses with an output limit, which is enforced before the output is allocated. */
export function unpack(bytes: Buffer, compression: Compression, maxOutputLength: number): Promise<Buffer> {
  const unpacker = unpackers[compression]
  if (!unpacker) return Promise.resolve(bytes)
  return new Promise((resolve, reject) => {
    unpacker(bytes, { maxOutputLength }, (cause, unpacked) =>
      cause ? reject(broken('holds a directory or description that cannot be unpacked', cause)) : resolve(unpacked),
    )
  })
}

type Unpacker = (bytes: Buffer, options: ZlibOptions, done: (error: Error | null, unpacked: Buffer) => void) => void

const unpackers: { readonly [compression in Compression]?: Unpacker } = {
  [Compression.Gzip]: gunzip,
  [Compression.Brotli]: (bytes, { maxOutputLength = 0 }, done) => brotliDecompress(bytes, { maxOutputLength }, done),
  [Compression.Zstd]: (bytes, { maxOutputLength = 0 }, done) => zstdDecompress(bytes, { maxOutputLength }, done),
}

export function parseDirectory(bytes: Buffer): Directory {
  const read = varints(bytes)
  const count = read()
  // Every entry has four numbers of at least one byte each.
  if (count * 4 > bytes.length) throw broken('holds a directory that is cut short')
  const column = () => {
    const values = new Float64Array(count)
    for (let at = 0; at < count; at++) values[at] = read()
    return values
  }
  const ids = column()
  for (let at = 1; at < count; at++) ids[at] = (ids[at] ?? 0) + (ids[at - 1] ?? 0)
  const runs = column()
  const lengths = column()
  const offsets = column()
  for (let at = 0; at < count; at++) {
    // 0 means contiguous with the previous entry.
    const follows = offsets[at] === 0 && at > 0
    offsets[at] = follows ? (offsets[at - 1] ?? 0) + (lengths[at - 1] ?? 0) : (offsets[at] ?? 0) - 1
  }
  return { ids, offsets, lengths, runs }
}

function varints(bytes: Buffer): () => number {
  let at = 0
  return () => {
    let value = 0
    for (let unit = 1; unit <= 2 ** 42; unit *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw broken('holds a directory that is cut short')
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
    throw broken('holds a directory with an impossible number')
  }
}

export type DirectoryEntry = { offset: number; length: number; isLeaf: boolean }

/** The entry that covers a tile: its own, a run of equal tiles, or a leaf directory to descend into. */
export function findEntry({ ids, offsets, lengths, runs }: Directory, id: number): DirectoryEntry | undefined {
  let low = 0
  let high = ids.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if ((ids[middle] ?? 0) <= id) low = middle + 1
    else high = middle - 1
  }
  if (high < 0) return undefined
  const run = runs[high] ?? 0
  if (run > 0 && id - (ids[high] ?? 0) >= run) return undefined
  return { offset: offsets[high] ?? -1, length: lengths[high] ?? 0, isLeaf: run === 0 }
}
