// Removes files of exports that are too old or too much. What is being made, and what is still read although its name is gone,
// takes room on the disk as well and counts.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that somebody reads. Its number is the inode's. */
export type OpenFile = { readonly applicationId: string; readonly ino: number; readonly size: number }

/** How the name of a file begins that is not complete. */
export const beingMade = 'making-'
/** Files of data whose changes are noticed are kept so long; what changes gets another key. */
export const watchedMs = 60 * 60_000
/** What a process that has died was making. */
const abandonedMs = 15 * 60_000
export const applicationShare = 1 / 4

type Kept = OpenFile & { readonly path: string; readonly mtimeMs: number }

/** Removes what is too old, then the oldest until the others are within their bounds. */
export async function sweepFiles(directory: string, maxBytes: number, open: readonly OpenFile[]): Promise<void> {
  const kept = await keptFiles(directory)
  const named = new Set(kept.map(({ ino }) => ino))
  const bytes = new Map<string, number>()
  let total = 0
  const count = ({ applicationId, size }: OpenFile): void => {
    bytes.set(applicationId, (bytes.get(applicationId) ?? 0) + size)
    total += size
  }
  const isUnfinished = ({ path }: Kept): boolean => path.includes(beingMade)
  for (const file of open) if (!named.has(file.ino)) count(file)
  for (const file of kept.filter(isUnfinished)) {
    if (Date.now() - file.mtimeMs > abandonedMs) await rm(file.path, { recursive: true, force: true })
    else count(file)
  }
  for (const file of kept) {
    if (isUnfinished(file)) continue
    const isOld = Date.now() - file.mtimeMs > watchedMs
    const own = (bytes.get(file.applicationId) ?? 0) + file.size
    if (isOld || own > maxBytes * applicationShare || total + file.size > maxBytes) await rm(file.path, { force: true })
    else count(file)
  }
}

/** The newest first. */
async function keptFiles(directory: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const applicationId of (await readdir(directory).catch(undefinedIfAbsent)) ?? []) {
    const folder = join(directory, applicationId)
    for (const name of (await readdir(folder).catch(undefinedIfAbsent)) ?? []) {
      const path = join(folder, name)
      const stats = await stat(path).catch(undefinedIfAbsent)
      if (stats) kept.push({ path, applicationId, ino: stats.ino, size: stats.size, mtimeMs: stats.mtimeMs })
    }
  }
  return kept.sort((a, b) => b.mtimeMs - a.mtimeMs)
}

export function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
