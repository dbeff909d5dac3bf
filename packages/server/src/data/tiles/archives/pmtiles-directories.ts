// An LRU cache of PMTiles directories, single-flight.
import type { Compression } from 'pmtiles'
import { bytesOfEntry, type Directory, maxDirectoryBytes, parseDirectory, unpack } from './pmtiles-directory.ts'
import { broken } from './tile-content.ts'

export type Directories = {
  /** At once if it is cached. */
  read(offset: number, length: number): Directory | Promise<Directory>
  /** Nothing if it is not cached. */
  cached(offset: number, length: number): Directory | undefined
}

const keptBytes = 4 * 1024 * 1024

/** Caches the directories of one archive. Concurrent requests for a directory share one read. */
export function createDirectories(
  compression: Compression,
  readBytes: (offset: number, length: number) => Promise<Buffer>,
): Directories {
  const kept = new Map<string, { directory: Directory; size: number }>()
  const reading = new Map<string, Promise<Directory>>()
  let total = 0

  function keep(key: string, directory: Directory): void {
    const size = directory.ids.length * bytesOfEntry + 500
    kept.set(key, { directory, size })
    total += size
    for (const [oldest, { size: freed }] of kept) {
      if (total <= keptBytes || oldest === key) break
      kept.delete(oldest)
      total -= freed
    }
  }

  async function load(key: string, offset: number, length: number): Promise<Directory> {
    if (length > maxDirectoryBytes || !Number.isSafeInteger(offset + length)) throw broken('has too large a directory')
    const bytes = length === 0 ? Buffer.from([0]) : await readBytes(offset, length)
    const directory = parseDirectory(length === 0 ? bytes : await unpack(bytes, compression, maxDirectoryBytes))
    keep(key, directory)
    return directory
  }

  function cached(offset: number, length: number): Directory | undefined {
    const key = `${offset}:${length}`
    const directory = kept.get(key)
    if (!directory) return undefined
    kept.delete(key)
    kept.set(key, directory)
    return directory.directory
  }

  return {
    cached,
    read(offset, length) {
      const directory = cached(offset, length)
      if (directory) return directory
      const key = `${offset}:${length}`
      const running = reading.get(key) ?? load(key, offset, length).finally(() => reading.delete(key))
      reading.set(key, running)
      return running
    },
  }
}
