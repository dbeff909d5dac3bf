import { randomUUID } from 'node:crypto'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import { codeOf } from '../../kernel/db/database-error.ts'
import { listen } from '../../kernel/events.ts'
import { storageFull } from '../http/system-fault.ts'

/** `unwritable`: there may be room, but the directory cannot be written, as when its file system is mounted read-only. */
export type StorageState = 'ok' | 'full' | 'unwritable'

export type StorageMonitor = {
  /** `full` also shortly after a write failed for lack of room. */
  state(): Promise<StorageState>
  /** Throws `storage_full` unless it is `ok`. */
  check(): Promise<void>
  close(): void
}

type StorageOptions = {
  /** DATA_DIR, and what else must be written. */
  readonly directories: readonly string[]
  readonly minFreeBytes: number
  /** Whether the database has no room left. */
  lacksRoom?(): boolean
}

/** Time to live of what was measured, and of a failed write. */
const trustMs = 5_000
const failureMs = 10_000
/** The free space that the system tells does not know of quotas, so a file is written too. */
const probe = Buffer.alloc(65_536)

/** Check of the room for data. */
export function watchStorage({ directories, minFreeBytes, lacksRoom = () => false }: StorageOptions): StorageMonitor {
  let failedAt = Number.NEGATIVE_INFINITY
  const answers = createLoadingCache<StorageState>({ ttlMs: trustMs, max: 1 })
  const close = listen('storageFull', () => {
    failedAt = performance.now()
  })
  const look = async (): Promise<StorageState> => {
    const states = await Promise.all(directories.map((directory) => stateOf(directory, minFreeBytes)))
    return states.find((one) => one !== 'ok') ?? 'ok'
  }
  async function state(): Promise<StorageState> {
    if (performance.now() - failedAt < failureMs || lacksRoom()) return 'full'
    return answers.get('state', look)
  }
  return {
    state,
    close,
    async check() {
      if ((await state()) !== 'ok') throw storageFull()
    },
  }
}

/** A directory that does not exist yet, as with PostgreSQL before the first upload, counts as free. */
async function stateOf(directory: string, minFreeBytes: number): Promise<StorageState> {
  const room = await statfs(directory).catch(() => undefined)
  if (!room) return 'ok'
  if (room.bavail * room.bsize < minFreeBytes) return 'full'
  const file = join(directory, `.write-test-${randomUUID()}`)
  try {
    await writeFile(file, probe, { flag: 'wx', mode: 0o600 })
    return 'ok'
  } catch (error) {
    return ['ENOSPC', 'EDQUOT'].includes(codeOf(error)) ? 'full' : 'unwritable'
  } finally {
    await rm(file, { force: true }).catch(() => undefined)
  }
}
