// PMTiles (version 3) archives.
import { bytesToHeader, Compression, type Header, TileType, zxyToTileId } from 'pmtiles'
import { once } from '../../../kernel/concurrency/once.ts'
import type { ByteSource } from '../../../kernel/storage/file-store.ts'
import { type ArchiveInfo, maxTileBytes, type OpenArchive, type StoredTile, type TileFormat } from './archive.ts'
import { boundsOf, centerOf, parseObject, textsOf, vectorLayersOf, versionOf, world, zoomOf } from './description.ts'
import { createDirectories, type Directories } from './pmtiles-directories.ts'
import { type DirectoryEntry, findEntry, unpack } from './pmtiles-directory.ts'
import { broken, kindOf, storedTile } from './tile-content.ts'

/** By the specification, the header and the root directory are within the first 16 KiB. */
const beginning = 16_384
const headerBytes = 127
const maxMetadataBytes = 2 * 1024 * 1024
/** The specification has a root and leaves; more levels than this are a cycle. */
const maxLevels = 4
/** At higher zooms tile ids exceed the exact integers of a double. */
const maxTileZoom = 26

/** One version of the archive, with its parsed header. */
type Edition = {
  readonly version: string
  readonly header: Header
  readonly directories: Directories
  readonly loadedAt: number
  info(): Promise<ArchiveInfo>
}

/** Thrown when bytes of another version arrive; the read is then repeated. */
const changed = new Error('The archive has changed')

export async function openPmtiles(source: ByteSource): Promise<OpenArchive> {
  let edition = await load(source)
  let loading: Promise<void> | undefined

  async function reload(): Promise<void> {
    const next = await load(source)
    edition = next.version === edition.version ? { ...edition, loadedAt: next.loadedAt } : next
  }

  function refresh(): Promise<void> {
    loading ??= reload().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function withEdition<Result>(work: (edition: Edition) => Promise<Result>): Promise<Result> {
    if (performance.now() - edition.loadedAt > source.trustMs) await refresh()
    try {
      return await work(edition)
    } catch (error) {
      if (error !== changed) throw error
    }
    await refresh()
    return await work(edition).catch((error) => {
      throw error === changed ? broken('changes while it is read') : error
    })
  }

  return {
    info: () => withEdition((current) => current.info()),
    tile: (z, x, y, signal) => withEdition((current) => findTile(source, current, [z, x, y], signal)),
    tileNow: (z, x, y) => findTileNow(source, edition, [z, x, y]),
    isStale: source.isStale,
    close: source.close,
  }
}

async function load(source: ByteSource): Promise<Edition> {
  const { bytes, version } = await source.read(0, beginning)
  const header = parseHeader(bytes)
  const read = (offset: number, length: number) => readExactly(source, version, offset, length)
  const directories = createDirectories(header.internalCompression, async (offset, length) =>
    offset + length <= bytes.length ? bytes.subarray(offset, offset + length) : await read(offset, length),
  )
  const info = once(() => describe(source, { version, header }))
  return { version, header, directories, loadedAt: performance.now(), info }
}

function parseHeader(bytes: Buffer): Header {
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 7) !== 'PMTiles') throw broken('is not a PMTiles file')
  if (bytes[7] !== 3) throw broken(`is PMTiles of version ${bytes[7]}; only version 3 is supported`)
  return bytesToHeader(new Uint8Array(bytes.subarray(0, headerBytes)).buffer)
}

async function readExactly(source: ByteSource, version: string, offset: number, length: number, signal?: AbortSignal) {
  const { bytes, version: currentVersion } = await source.read(offset, length, signal)
  if (currentVersion !== version) throw changed
  if (bytes.length !== length) throw broken('is incomplete')
  return bytes
}

async function findTile(
  source: ByteSource,
  { header, directories, version }: Edition,
  [z, x, y]: [number, number, number],
  signal: AbortSignal | undefined,
): Promise<StoredTile | undefined> {
  if (z > maxTileZoom) return undefined
  const id = zxyToTileId(z, x, y)
  let directory = await directories.read(header.rootDirectoryOffset, header.rootDirectoryLength)
  for (let level = 1; level < maxLevels; level++) {
    const entry = findEntry(directory, id)
    if (!entry || (entry.length === 0 && !entry.isLeaf)) return undefined
    const { length } = entry
    const at = positionOf(entry, header)
    if (!entry.isLeaf) {
      return await asStored(await readExactly(source, version, at, length, signal), header.tileCompression)
    }
    directory = await directories.read(at, length)
  }
  throw broken('holds directories that lead in a circle')
}

/** The same without waiting: nothing if a directory is not cached or the tile not in the page cache. */
function findTileNow(
  { readNow }: ByteSource,
  { header, directories }: Edition,
  [z, x, y]: [number, number, number],
): StoredTile | null | undefined {
  const encoding = encodings[header.tileCompression]
  if (!readNow || !encoding || z > maxTileZoom) return undefined
  const id = zxyToTileId(z, x, y)
  let directory = directories.cached(header.rootDirectoryOffset, header.rootDirectoryLength)
  for (let level = 1; level < maxLevels && directory; level++) {
    const entry = findEntry(directory, id)
    if (!entry || (entry.length === 0 && !entry.isLeaf)) return null
    const at = positionOf(entry, header)
    if (!entry.isLeaf) {
      const read = readNow(at, entry.length)
      return read && { ...read, encoding }
    }
    directory = directories.cached(at, entry.length)
  }
  return undefined
}

/** The absolute position of a tile or of a leaf directory. */
function positionOf({ offset, length, isLeaf }: DirectoryEntry, header: Header): number {
  if (isLeaf) return within(offset, length, header.leafDirectoryOffset, header.leafDirectoryLength)
  const at = within(offset, length, header.tileDataOffset, header.tileDataLength)
  if (length > maxTileBytes) throw broken(`holds a tile of more than ${maxTileBytes} bytes`)
  return at
}

/** The absolute position of `offset` in a section. */
function within(offset: number, length: number, start: number, sectionLength = 0): number {
  const isInside = offset >= 0 && offset + length <= sectionLength
  if (!isInside || !Number.isSafeInteger(start + offset + length)) throw broken('points outside of itself')
  return start + offset
}

const encodings: { readonly [compression in Compression]?: StoredTile['encoding'] } = {
  [Compression.None]: 'identity',
  [Compression.Gzip]: 'gzip',
  [Compression.Brotli]: 'br',
  [Compression.Zstd]: 'zstd',
}

async function asStored(bytes: Buffer, compression: Compression): Promise<StoredTile | undefined> {
  const encoding = encodings[compression]
  return encoding ? { bytes, encoding } : await storedTile(bytes)
}

const formats: { readonly [type in TileType]?: TileFormat } = {
  [TileType.Mvt]: 'pbf',
  [TileType.Png]: 'png',
  [TileType.Jpeg]: 'jpg',
  [TileType.Webp]: 'webp',
  [TileType.Avif]: 'avif',
}

async function describe(
  source: ByteSource,
  { header, version }: Pick<Edition, 'header' | 'version'>,
): Promise<ArchiveInfo> {
  const format = formats[header.tileType]
  if (!format) throw broken('holds tiles of a format that is not supported')
  const metadata = parseObject((await readMetadata(source, header, version)).toString())
  const maxZoom = zoomOf(header.maxZoom) ?? maxTileZoom
  const { minLon, minLat, maxLon, maxLat, centerLon, centerLat, centerZoom } = header
  const center = centerOf([centerLon, centerLat, centerZoom])
  return {
    kind: kindOf(format),
    format,
    minZoom: Math.min(zoomOf(header.minZoom) ?? 0, maxZoom),
    maxZoom,
    bounds: boundsOf([minLon, minLat, maxLon, maxLat]) ?? world,
    ...(center ? { center } : {}),
    ...textsOf(metadata),
    vectorLayers: format === 'pbf' ? vectorLayersOf(metadata.vector_layers) : [],
    version: versionOf(version),
  }
}

async function readMetadata(source: ByteSource, header: Header, version: string): Promise<Buffer> {
  const { jsonMetadataOffset: offset, jsonMetadataLength: length } = header
  if (length === 0) return Buffer.alloc(0)
  if (length > maxMetadataBytes || !Number.isSafeInteger(offset + length)) throw broken('has too long a description')
  const bytes = await readExactly(source, version, offset, length)
  return await unpack(bytes, header.internalCompression, maxMetadataBytes)
}
