// An LRU cache of stored files on the local disk, bounded in bytes. Its directory is shared by all processes of a machine:
// a copy is named after its key and version, appears whole, and its time of modification is when it was last used.
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createSingleFlight } from '../../concurrency/single-flight.ts'

export type LocalCopies = {
  /** The path of a copy; `download` makes it if there is none. */
  get(file: CopiedFile, download: (path: string, signal: AbortSignal) => Promise<void>): Promise<string>
  /** Marks a copy as used; false if it is gone. */
  touch(path: string): Promise<boolean>
  /** Removes copies that nobody has used for long. */
  sweep(): Promise<void>
}

export type CopiedFile = { readonly key: string; readonly version: string; readonly size: number }

/** A deleted file is gone from every machine after so long. */
const unusedMs = 24 * 60 * 60_000

export function createLocalCopies(directory: string, maxBytes: number): LocalCopies {
  const flights = createSingleFlight<void>()

  async function touch(path: string): Promise<boolean> {
    const now = new Date()
    return utimes(path, now, now).then(
      () => true,
      () => false,
    )
  }

  /** Removes the least recently used until the others and `bytes` more are within the limit. A larger file is kept alone. */
  async function makeRoom(bytes: number): Promise<void> {
    let left = maxBytes - bytes
    for (const { path, size, usedAt } of await copiesIn(directory)) {
      left -= size
      if (left < 0 || Date.now() - usedAt > unusedMs) await rm(path, { force: true })
    }
  }

  return {
    touch,
    async get({ key, version, size }, download) {
      const path = join(directory, createHash('sha256').update(`${key}\n${version}`).digest('hex'))
      if (await touch(path)) return path
      await flights.join(path, new AbortController().signal, async (signal) => {
        await mkdir(directory, { recursive: true })
        await makeRoom(size)
        await download(path, signal)
      })
      return path
    },
    sweep: () => makeRoom(0),
  }
}

type Copy = { readonly path: string; readonly size: number; readonly usedAt: number }

/** The most recently used first. */
async function copiesIn(directory: string): Promise<Copy[]> {
  const copies: Copy[] = []
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name)
    const stats = await stat(path).catch(() => undefined)
    if (stats) copies.push({ path, size: stats.size, usedAt: stats.mtimeMs })
  }
  return copies.sort((a, b) => b.usedAt - a.usedAt)
}
