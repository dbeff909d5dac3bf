// An LRU cache of open archives, with reference counts.
import type { Archive, Fetch, OpenArchive } from './archive.ts'
import { createMbtilesProcesses } from './mbtiles-processes.ts'
import { openArchive } from './open-archive.ts'

/** The open archives, each opened once. */
export type Archives = {
  /** An archive that is opened when it is asked, and again if it was closed or replaced meanwhile. */
  of(applicationId: string, uri: string): Archive
  close(): Promise<void>
}

type Kept = { opening: Promise<OpenArchive>; uses: number; checkedAt: number; isDropped: boolean }

const checkEveryMs = 1_000

export type ArchivesOptions = { directoryOf(applicationId: string): string; fetch: Fetch; max?: number }

export function createArchives({ directoryOf, fetch, max = 64 }: ArchivesOptions): Archives {
  const kept = new Map<string, Kept>()
  const processes = createMbtilesProcesses()
  const closing = new Set<Promise<void>>()

  /** Removes an entry; it is closed when its last use ends. */
  function drop(key: string, entry: Kept): void {
    if (entry.isDropped) return
    entry.isDropped = true
    if (kept.get(key) === entry) kept.delete(key)
    if (entry.uses === 0) closeEntry(entry)
  }

  function closeEntry({ opening }: Kept): void {
    const done = closed(opening).finally(() => closing.delete(done))
    closing.add(done)
  }

  function start(key: string, applicationId: string, uri: string): Kept {
    const mbtilesProcess = processes.of(applicationId)
    const opening = openArchive(uri, { directory: directoryOf(applicationId), fetch, mbtilesProcess })
    const entry: Kept = { opening, uses: 0, checkedAt: Date.now(), isDropped: false }
    opening.catch(() => drop(key, entry))
    kept.set(key, entry)
    for (const [oldest, other] of kept) {
      if (kept.size <= max || other === entry) break
      drop(oldest, other)
    }
    return entry
  }

  async function isReplaced(entry: Kept): Promise<boolean> {
    entry.checkedAt = Date.now()
    return (await entry.opening).isStale()
  }

  function take(key: string, applicationId: string, uri: string): Kept {
    const entry = kept.get(key) ?? start(key, applicationId, uri)
    // Reinsert, because the map's order is the LRU order.
    kept.delete(key)
    kept.set(key, entry)
    entry.uses++
    return entry
  }

  async function use<Result>(applicationId: string, uri: string, work: (archive: Archive) => Promise<Result>) {
    const key = `${applicationId} ${uri}`
    const known = kept.get(key)
    if (known && Date.now() - known.checkedAt >= checkEveryMs && (await isReplaced(known))) drop(key, known)
    const entry = take(key, applicationId, uri)
    try {
      return await work(await entry.opening)
    } finally {
      entry.uses--
      if (entry.isDropped && entry.uses === 0) closeEntry(entry)
    }
  }

  return {
    of: (applicationId, uri) => ({
      info: () => use(applicationId, uri, (archive) => archive.info()),
      tile: (z, x, y, signal) => use(applicationId, uri, (archive) => archive.tile(z, x, y, signal)),
      close: async () => {},
    }),
    async close() {
      for (const [key, entry] of kept) drop(key, entry)
      await processes.close()
      await Promise.all(closing)
    },
  }
}

/** Ignores errors: an archive that failed to open needs no closing, and one that fails to close is not used again. */
async function closed(opening: Promise<OpenArchive>): Promise<void> {
  await opening.then((archive) => archive.close()).catch(() => {})
}
