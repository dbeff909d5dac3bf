import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** A tile by its place on the Hilbert curve of all tiles (PMTiles' own numbering). */
export type NumberedTile = { id: number; bytes: Uint8Array }

type Entry = { id: number; run: number; offset: number; length: number }

export type ArchiveOptions = {
  metadata: object
  minZoom: number
  maxZoom: number
  bounds: readonly [west: number, south: number, east: number, north: number]
  center: readonly [longitude: number, latitude: number, zoom: number]
}

const headerBytes = 127
/** Readers fetch this much at once, so the header and the root directory have to fit. */
const rootBytes = 16_384
const leafEntries = 4_096

/** A PMTiles 3 archive of gzipped vector tiles. Equal tiles are stored once. */
export function pmtiles(tiles: readonly NumberedTile[], options: ArchiveOptions): Buffer {
  const { entries, data, contents } = store(tiles)
  const { root, leaves } = directories(entries)
  const metadata = gzip(Buffer.from(JSON.stringify(options.metadata)))
  const rootOffset = headerBytes
  const metadataOffset = rootOffset + root.length
  const leavesOffset = metadataOffset + metadata.length
  const dataOffset = leavesOffset + leaves.length

  const header = Buffer.alloc(headerBytes)
  header.write('PMTiles', 0, 'latin1')
  header.writeUInt8(3, 7)
  const places = [rootOffset, root.length, metadataOffset, metadata.length]
  const numbers = [
    ...places,
    leavesOffset,
    leaves.length,
    dataOffset,
    data.length,
    tiles.length,
    entries.length,
    contents,
  ]
  for (const [index, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + index * 8)
  // Clustered; directories and tiles gzipped; the tiles are vector tiles.
  header.set([1, 2, 2, 1, options.minZoom, options.maxZoom], 96)
  for (const [index, degrees] of options.bounds.entries()) header.writeInt32LE(degrees * 1e7, 102 + index * 4)
  header.writeUInt8(options.center[2], 118)
  header.writeInt32LE(options.center[0] * 1e7, 119)
  header.writeInt32LE(options.center[1] * 1e7, 123)
  return Buffer.concat([header, root, metadata, leaves, data])
}

/** Gzip without a time or a name of the system in it: the same input gives the same bytes everywhere. */
export function gzip(bytes: Uint8Array): Buffer {
  const packed = gzipSync(bytes, { level: 9 })
  packed[9] = 255
  return packed
}

function store(tiles: readonly NumberedTile[]): { entries: Entry[]; data: Buffer; contents: number } {
  const places = new Map<string, { offset: number; length: number }>()
  const parts: Buffer[] = []
  const entries: Entry[] = []
  let end = 0
  for (const { id, bytes } of tiles.toSorted((a, b) => a.id - b.id)) {
    const hash = createHash('sha256').update(bytes).digest('base64')
    let place = places.get(hash)
    if (!place) {
      const packed = gzip(bytes)
      place = { offset: end, length: packed.length }
      places.set(hash, place)
      parts.push(packed)
      end += packed.length
    }
    const last = entries.at(-1)
    if (last && last.offset === place.offset && last.id + last.run === id) last.run++
    else entries.push({ id, run: 1, ...place })
  }
  return { entries, data: Buffer.concat(parts), contents: places.size }
}

/** One root directory, or a root of leaves when that is too large. */
function directories(entries: readonly Entry[]): { root: Buffer; leaves: Buffer } {
  const whole = directory(entries)
  if (headerBytes + whole.length <= rootBytes) return { root: whole, leaves: Buffer.alloc(0) }
  const leaves: Buffer[] = []
  const pointers: Entry[] = []
  let offset = 0
  for (let from = 0; from < entries.length; from += leafEntries) {
    const leaf = directory(entries.slice(from, from + leafEntries))
    pointers.push({ id: entries[from]?.id ?? 0, run: 0, offset, length: leaf.length })
    leaves.push(leaf)
    offset += leaf.length
  }
  return { root: directory(pointers), leaves: Buffer.concat(leaves) }
}

/** Column by column: ids as differences, runs, lengths, offsets (0 = right behind the one before). */
function directory(entries: readonly Entry[]): Buffer {
  const numbers = [entries.length]
  for (const [index, { id }] of entries.entries()) numbers.push(id - (entries[index - 1]?.id ?? 0))
  for (const { run } of entries) numbers.push(run)
  for (const { length } of entries) numbers.push(length)
  for (const [index, { offset }] of entries.entries()) {
    const before = entries[index - 1]
    numbers.push(before && before.offset + before.length === offset ? 0 : offset + 1)
  }
  return gzip(Buffer.from(numbers.flatMap(varint)))
}

function varint(number: number): number[] {
  const bytes: number[] = []
  let rest = number
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return bytes
}
