// An LRU cache of open archives, with reference counts.
import type { Folder } from '../../../kernel/storage/file-store.ts'
import type { Archive, Fetch, OpenArchive } from './archive.ts'
import { createMbtilesProcesses } from './mbtiles-processes.ts'
import { openArchive } from './open-archive.ts'

/** The open archives, each opened once. */
export type Archives = {
  /** An archive that is opened when it is asked, and again if it was closed or replaced meanwhile. */
  of(applicationId: string, uri: string): Archive
  close(): Promise<void>
}

type Kept = {
  opening: Promise<OpenArchive>
  /** Once it is open. */
  archive?: OpenArchive
  uses: number
  checkedAt: number
  /** When the last check ended. */
  foundUnchangedAt: number
  isDropped: boolean
}

const checkEveryMs = 1_000
/** Where a file system does not even tell within this time whether a file has changed, nothing is read synchronously. */
const trustMs = 2 * checkEveryMs

export type ArchivesOptions = {
  filesOf(applicationId: string): Pick<Folder, 'open' | 'localFile'>
  fetch: Fetch
  max?: number
}

export function createArchives({ filesOf, fetch, max = 64 }: ArchivesOptions): Archives {
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
    const opening = openArchive(uri, { files: filesOf(applicationId), fetch, mbtilesProcess })
    const entry = newEntry(opening)
    opening.catch(() => drop(key, entry))
    kept.set(key, entry)
    for (const [oldest, other] of kept) {
      if (kept.size <= max || other === entry) break
      drop(oldest, other)
    }
    return entry
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
    const archive = kept.get(key)
    if (archive && performance.now() - archive.checkedAt >= checkEveryMs && (await isReplaced(archive)))
      drop(key, archive)
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
      tileNow: (z, x, y) => readableNow(kept.get(`${applicationId} ${uri}`))?.tileNow?.(z, x, y),
      close: async () => {},
    }),
    async close() {
      for (const [key, entry] of kept) drop(key, entry)
      await processes.close()
      await Promise.all(closing)
    },
  }
}

function newEntry(opening: Promise<OpenArchive>): Kept {
  const now = performance.now()
  const entry: Kept = { opening, uses: 0, checkedAt: now, foundUnchangedAt: now, isDropped: false }
  const noteOpen = (archive: OpenArchive): void => {
    entry.archive = archive
  }
  opening.then(noteOpen, () => {})
  return entry
}

async function isReplaced(entry: Kept): Promise<boolean> {
  entry.checkedAt = performance.now()
  const isStale = await (await entry.opening).isStale()
  if (!isStale) entry.foundUnchangedAt = performance.now()
  return isStale
}

/** An archive that is open and was checked a moment ago. */
function readableNow(entry: Kept | undefined): OpenArchive | undefined {
  const now = performance.now()
  const isTrusted = entry && now - entry.checkedAt < checkEveryMs && now - entry.foundUnchangedAt < trustMs
  return isTrusted ? entry.archive : undefined
}

/** Ignores errors: an archive that failed to open needs no closing, and one that fails to close is not used again. */
async function closed(opening: Promise<OpenArchive>): Promise<void> {
  await opening.then((archive) => archive.close()).catch(() => {})
}
