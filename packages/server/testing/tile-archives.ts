import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { Compression, TileType, zxyToTileId } from 'pmtiles'
import type { Fetch } from '../src/data/tiles/archives/archive.ts'

// What the tests of archives share: files made here, and servers to read them from.

export type TestTile = { z: number; x: number; y: number; bytes: Buffer }
type Entry = { id: number; offset: number; length: number; run: number }

const packers: Record<number, (bytes: Buffer) => Buffer> = {
  [Compression.None]: (bytes) => bytes,
  [Compression.Gzip]: (bytes) => gzipSync(bytes),
  [Compression.Brotli]: (bytes) => brotliCompressSync(bytes),
  [Compression.Zstd]: (bytes) => zstdCompressSync(bytes),
}

/** A PMTiles file; with `leafSize` its entries are in leaf directories of that many. */
export function pmtilesOf(
  tiles: readonly TestTile[],
  {
    metadata = {},
    leafSize = Number.POSITIVE_INFINITY,
    internal = Compression.Gzip,
    compression = Compression.Gzip,
    type = TileType.Mvt,
    bounds = [-10, -20, 30, 40],
  }: {
    metadata?: object
    leafSize?: number
    internal?: Compression
    compression?: Compression
    type?: TileType
    bounds?: number[]
  } = {},
): Buffer {
  const pack = (bytes: Buffer) => packers[internal]?.(bytes) ?? bytes
  const { entries, data } = tileSection(tiles)
  let root = entries
  let leaves = Buffer.alloc(0)
  if (entries.length > leafSize) {
    root = []
    for (let at = 0; at < entries.length; at += leafSize) {
      const part = entries.slice(at, at + leafSize)
      const leaf = pack(directoryBytes(part))
      root.push({ id: part[0]?.id ?? 0, offset: leaves.length, length: leaf.length, run: 0 })
      leaves = Buffer.concat([leaves, leaf])
    }
  }
  const sections = [pack(directoryBytes(root)), pack(Buffer.from(JSON.stringify(metadata))), leaves, data]
  const zooms = tiles.map(({ z }) => z)
  const header = headerBytes({ sections, internal, compression, type, bounds, zooms })
  return Buffer.concat([header, ...sections])
}

function tileSection(tiles: readonly TestTile[]): { entries: Entry[]; data: Buffer } {
  const sorted = tiles.map((tile) => ({ ...tile, id: zxyToTileId(tile.z, tile.x, tile.y) })).sort((a, b) => a.id - b.id)
  const entries: Entry[] = []
  const chunks: Buffer[] = []
  let offset = 0
  for (const { id, bytes } of sorted) {
    const last = entries.at(-1)
    if (last && last.id + last.run === id && chunks.at(-1)?.equals(bytes)) {
      last.run++
      continue
    }
    entries.push({ id, offset, length: bytes.length, run: 1 })
    chunks.push(bytes)
    offset += bytes.length
  }
  return { entries, data: Buffer.concat(chunks) }
}

export function directoryBytes(entries: readonly Entry[]): Buffer {
  const numbers = [
    entries.length,
    ...entries.map(({ id }, at) => id - (entries[at - 1]?.id ?? 0)),
    ...entries.map(({ run }) => run),
    ...entries.map(({ length }) => length),
    ...entries.map(({ offset }, at) => {
      const before = entries[at - 1]
      return before && before.offset + before.length === offset ? 0 : offset + 1
    }),
  ]
  return Buffer.from(numbers.flatMap(varint))
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

export function headerBytes({
  sections,
  internal,
  compression,
  type,
  bounds,
  zooms,
}: {
  sections: readonly Buffer[]
  internal: Compression
  compression: Compression
  type: TileType
  bounds: readonly number[]
  zooms: readonly number[]
}): Buffer {
  const header = Buffer.alloc(127)
  header.write('PMTiles')
  header[7] = 3
  let offset = 127
  for (const [at, { length }] of sections.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + at * 16)
    header.writeBigUInt64LE(BigInt(length), 16 + at * 16)
    offset += length
  }
  header.set([1, internal, compression, type, Math.min(...zooms), Math.max(...zooms)], 96)
  for (const [at, degrees] of bounds.entries()) header.writeInt32LE(degrees * 1e7, 102 + at * 4)
  header[118] = Math.min(...zooms)
  return header
}

/** An MBTiles file of the plainest kind. */
export function writeMbtiles(
  path: string,
  tiles: readonly TestTile[],
  { metadata = {}, hasIndex = true }: { metadata?: Record<string, string>; hasIndex?: boolean } = {},
): void {
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE metadata (name text, value text);
    CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
    BEGIN`)
  if (hasIndex) database.exec('CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)')
  const insert = database.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
  for (const { z, x, y, bytes } of tiles) insert.run(z, x, 2 ** z - 1 - y, bytes)
  const describe = database.prepare('INSERT INTO metadata VALUES (?, ?)')
  for (const [name, value] of Object.entries(metadata)) describe.run(name, value)
  database.exec('COMMIT')
  database.close()
}

/** Every tile of the first levels, some equal to their neighbours. */
export function pyramid(levels: number, content = (z: number, x: number, y: number) => `tile ${z}/${x}/${y >> 1}`) {
  const tiles: TestTile[] = []
  for (let z = 0; z < levels; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) tiles.push({ z, x, y, bytes: gzipSync(content(z, x, y)) })
    }
  }
  return tiles
}

export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-archives-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A server on the loopback; the egress guard, closed with it, must let that through. */
export async function serve(
  t: TestContext,
  egress: { fetch: Fetch; close(): Promise<void> },
  listener: RequestListener,
): Promise<{ url: string; fetch: Fetch }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    await egress.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, fetch: egress.fetch }
}

export const noFetch = () => Promise.reject(new Error('Nothing must be fetched'))
