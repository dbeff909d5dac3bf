// Files of exports: made once, kept for a while, and sent whole or in ranges. They lie in one directory that all processes
// of a machine share, so that the requests of one reader get the same bytes whichever process answers.
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createAdmission } from '../concurrency/admission.ts'
import { type MachineShare, partOf } from '../concurrency/machine-share.ts'
import { createSingleFlight } from '../concurrency/single-flight.ts'
import { ApiError } from '../errors.ts'
import { partsOf } from '../formats/exports/export-order.ts'
import { limits, overLimit } from '../limits.ts'

/** Equal keys have equal rows, for as long as `maxAgeMs`. */
export type ExportKey = { readonly applicationId: string; readonly hash: string; readonly maxAgeMs: number }

/** An open file. It can be read even if it is removed from the cache meanwhile; whoever has it closes it. */
export type ExportFile = { readonly handle: FileHandle; readonly size: number; readonly tag: string }

/** Writes the file at this path. */
type WriteFile = (path: string, signal: AbortSignal) => Promise<void>

export type ExportFiles = {
  find(key: ExportKey): Promise<ExportFile | undefined>
  /** The file of the key, made anew unless another request is making it. */
  make(key: ExportKey, signal: AbortSignal, write: WriteFile): Promise<ExportFile>
  /** A file that only this request gets. */
  makeOnce(applicationId: string, signal: AbortSignal, write: WriteFile): Promise<ExportFile>
  /** Removes what is too old or too much. */
  sweep(): Promise<void>
  close(): void
}

export type ExportFilesOptions = {
  readonly directory: string
  /** The most bytes of all files that are kept. An application may have a quarter of them. */
  readonly maxBytes: number
  readonly share: MachineShare
  onError(error: unknown): void
}

/** Files of data whose changes are noticed are kept so long; what changes gets another key. */
export const watchedMs = 60 * 60_000
/** Files of other data: long enough for a reader that comes back for one range after the other. */
export const unwatchedMs = 60_000
/** What a process that has died was making. */
const abandonedMs = 15 * 60_000
const sweepMs = 60_000
/** Whoever waited for a file has opened it by then. */
const openedMs = 1_000
const patienceMs = 2_000
const atOnce = { total: limits.allExportsAtOnce.value, perApplication: limits.exportsAtOnce.value }
const applicationShare = 1 / 4

const beingMade = 'making-'

export function createExportFiles({ directory, maxBytes, share, onError }: ExportFilesOptions): ExportFiles {
  const flights = createSingleFlight<string>()
  const total = partOf(atOnce.total, share)
  const admission = createAdmission({
    total,
    perOwner: atOnce.perApplication,
    leavesRoom: true,
    waitMs: patienceMs,
    refuse: atLimit(total),
  })
  const sweep = (): Promise<void> => sweepFiles(directory, maxBytes).catch(onError)
  const timer = setInterval(sweep, sweepMs).unref()
  const pathOf = ({ applicationId, hash }: ExportKey): string => join(directory, applicationId, hash)

  /** Calls `use` with the file that was written, and leaves nothing behind. */
  async function written<T>(
    applicationId: string,
    signal: AbortSignal,
    write: WriteFile,
    use: (path: string) => Promise<T>,
  ): Promise<T> {
    const release = await admission.admit(applicationId, { signal })
    const path = join(directory, applicationId, `${beingMade}${randomUUID()}`)
    try {
      await mkdir(join(directory, applicationId), { recursive: true, mode: 0o700 })
      await write(path, signal)
      return await use(path)
    } finally {
      await Promise.all([path, partsOf(path)].map((left) => rm(left, { recursive: true, force: true })))
      release()
    }
  }

  return {
    find: (key) => openFile(pathOf(key), key.maxAgeMs),
    async make(key, signal, write) {
      const target = pathOf(key)
      await flights.join(target, signal, (whileAwaited) =>
        written(key.applicationId, whileAwaited, write, async (path) => {
          await publish(path, target, key.maxAgeMs)
          setTimeout(sweep, openedMs).unref()
          return target
        }),
      )
      const file = await openFile(target, Number.POSITIVE_INFINITY)
      if (!file) throw new ApiError('unavailable', 'The file was removed to make room. Try again in a moment.')
      return file
    },
    makeOnce: (applicationId, signal, write) =>
      written(applicationId, signal, write, async (path) => {
        const file = await openFile(path, Number.POSITIVE_INFINITY)
        if (!file) throw new Error(`${path} was not written`)
        return file
      }),
    sweep,
    close: () => clearInterval(timer),
  }
}

export const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex').slice(0, 40)

async function openFile(path: string, maxAgeMs: number): Promise<ExportFile | undefined> {
  const handle = await open(path, 'r').catch(undefinedIfAbsent)
  if (!handle) return undefined
  try {
    const { size, mtimeMs, ino } = await handle.stat()
    if (Date.now() - mtimeMs <= maxAgeMs) {
      // By the file, not by the key: the same rows may come in another order when they are asked for again.
      return {
        handle,
        size,
        tag: `${ino.toString(36)}-${Math.trunc(mtimeMs * 1000).toString(36)}-${size.toString(36)}`,
      }
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return undefined
}

/** Where another process was faster its file stays, because a reader may be at it. */
async function publish(path: string, target: string, maxAgeMs: number): Promise<void> {
  try {
    await link(path, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const other = await openFile(target, maxAgeMs)
    if (other) await other.handle.close()
    else await rename(path, target)
  }
}

type Kept = { readonly path: string; readonly applicationId: string; readonly size: number; readonly mtimeMs: number }

/** Removes what is too old, then the oldest until the others are within their bounds. */
async function sweepFiles(directory: string, maxBytes: number): Promise<void> {
  const bytes = new Map<string, number>()
  let total = 0
  for (const { path, applicationId, size, mtimeMs } of await keptFiles(directory)) {
    const own = (bytes.get(applicationId) ?? 0) + size
    const age = Date.now() - mtimeMs
    const isMade = !path.includes(beingMade)
    const isOld = age > (isMade ? watchedMs : abandonedMs)
    const isTooMuch = isMade && (own > maxBytes * applicationShare || total + size > maxBytes)
    if (isOld || isTooMuch) await rm(path, { recursive: true, force: true })
    else if (isMade) {
      bytes.set(applicationId, own)
      total += size
    }
  }
}

/** The newest first. */
async function keptFiles(directory: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const applicationId of (await readdir(directory).catch(undefinedIfAbsent)) ?? []) {
    const folder = join(directory, applicationId)
    for (const name of (await readdir(folder).catch(undefinedIfAbsent)) ?? []) {
      const path = join(folder, name)
      const found = await stat(path).catch(undefinedIfAbsent)
      if (found) kept.push({ path, applicationId, size: found.size, mtimeMs: found.mtimeMs })
    }
  }
  return kept.sort((a, b) => b.mtimeMs - a.mtimeMs)
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}

const atLimit =
  (total: number) =>
  (held: number): ApiError => {
    if (held >= atOnce.perApplication) {
      const detail = `This application already makes ${held} files, its limit. Try again in a moment.`
      return overLimit('exportsAtOnce', held, detail, later)
    }
    const detail = 'The server already makes as many files as it may at once. Try again in a moment.'
    return overLimit('allExportsAtOnce', total, detail, later)
  }

const later = { headers: { 'Retry-After': '2' } }
