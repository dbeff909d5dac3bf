// Files of exports: made once, kept for a while, and sent whole or in ranges. They lie in one directory that all processes
// of a machine share, so that the requests of one reader get the same bytes whichever process answers.
import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import { type MachineShare, partOf } from '../../../kernel/concurrency/machine-share.ts'
import { createSingleFlight } from '../../../kernel/concurrency/single-flight.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import { partsOf } from '../../../query/formats/exports/export-order.ts'
import { createExportReaders, type ExportFile } from './export-readers.ts'
import { applicationShare, beingMade, sweepFiles, undefinedIfAbsent } from './export-sweep.ts'

/** Equal keys have equal rows, for as long as `maxAgeMs`. */
export type ExportKey = { readonly applicationId: string; readonly hash: string; readonly maxAgeMs: number }

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
  /** The largest file. An application may always have one that large open. */
  readonly largestBytes: number
  readonly share: MachineShare
  onError(error: unknown): void
}

/** Files of other data: long enough for a reader that comes back for one range after the other. */
export const unwatchedMs = 60_000
const sweepMs = 60_000
/** Whoever waited for a file has opened it by then. */
const openedMs = 1_000
const patienceMs = 2_000
const atOnce = { total: limits.allExportsAtOnce.value, perApplication: limits.exportsAtOnce.value }

export function createExportFiles(options: ExportFilesOptions): ExportFiles {
  const { directory, maxBytes, largestBytes, share, onError } = options
  const flights = createSingleFlight<string>()
  const total = partOf(atOnce.total, share)
  const admission = createAdmission({
    total,
    perOwner: atOnce.perApplication,
    leavesRoom: true,
    waitMs: patienceMs,
    refuse: atLimit(total),
  })
  const readers = createExportReaders(Math.max(partOf(maxBytes * applicationShare, share), largestBytes))
  const openCounted = async (applicationId: string, path: string, maxAgeMs: number) =>
    readers.count(applicationId, await openFile(path, maxAgeMs))
  const sweep = (): Promise<void> => sweepFiles(directory, maxBytes, readers.files()).catch(onError)
  const timer = setInterval(sweep, sweepMs).unref()
  const pathOf = ({ applicationId, hash }: ExportKey): string => join(directory, applicationId, hash)

  /** Calls `use` with the file that was written, and leaves nothing behind. */
  async function written<T>(
    applicationId: string,
    signal: AbortSignal,
    write: WriteFile,
    use: (path: string) => Promise<T>,
  ): Promise<T> {
    readers.refuseBeyondShare(applicationId)
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
    find: (key) => openCounted(key.applicationId, pathOf(key), key.maxAgeMs),
    async make(key, signal, write) {
      const target = pathOf(key)
      await flights.join(target, signal, (whileAwaited) =>
        written(key.applicationId, whileAwaited, write, async (path) => {
          await publish(path, target, key.maxAgeMs)
          setTimeout(sweep, openedMs).unref()
          return target
        }),
      )
      const file = await openCounted(key.applicationId, target, Number.POSITIVE_INFINITY)
      if (!file) throw new ApiError('unavailable', 'The file was removed to make room. Try again in a moment.')
      return file
    },
    makeOnce: (applicationId, signal, write) =>
      written(applicationId, signal, write, async (path) => {
        const file = await openCounted(applicationId, path, Number.POSITIVE_INFINITY)
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
        ino,
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
