import { statfs } from 'node:fs/promises'
import { createLoadingCache } from '../concurrency/loading-cache.ts'
import { listen } from '../events.ts'
import { storageFull } from '../http/system-fault.ts'

export type Storage = {
  /** Throws `storage_full` while there is too little free space, or shortly after a write failed for lack of it. */
  check(): Promise<void>
  close(): void
}

/** Time to live of the measured free space, and of a failed write. */
const trustMs = 5_000
const failureMs = 10_000

/** Check of the free space in DATA_DIR. */
export function watchStorage(directory: string, minFreeBytes: number): Storage {
  let failedAt = Number.NEGATIVE_INFINITY
  const answers = createLoadingCache<boolean>({ ttlMs: trustMs, max: 1 })
  const isFull = async (): Promise<boolean> => (await freeBytes(directory)) < minFreeBytes
  const close = listen('storageFull', () => {
    failedAt = performance.now()
  })
  return {
    close,
    async check() {
      const hasJustFailed = performance.now() - failedAt < failureMs
      if (hasJustFailed || (await answers.get('isFull', isFull))) throw storageFull()
    },
  }
}

/** A directory that does not exist yet, as with PostgreSQL before the first upload, counts as free. */
async function freeBytes(directory: string): Promise<number> {
  return statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  )
}
