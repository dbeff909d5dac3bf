import { statfs } from 'node:fs/promises'
import { listen } from '../events.ts'
import { storageFull } from '../http/system-fault.ts'

export type Storage = {
  /** Throws `storage_full` while there is too little room, or a write has just failed for want of it. */
  check(): Promise<void>
  close(): void
}

/** For how long what the file system said is believed, and for how long a failed write counts. */
const trustMs = 5_000
const failureMs = 10_000

/** Watches over the room that is left in DATA_DIR. */
export function watchStorage(directory: string, minFreeBytes: number): Storage {
  let failedAt = Number.NEGATIVE_INFINITY
  let askedAt = Number.NEGATIVE_INFINITY
  let isFull: Promise<boolean> = Promise.resolve(false)
  const close = listen('storageFull', () => {
    failedAt = performance.now()
  })
  return {
    close,
    async check() {
      const now = performance.now()
      if (now - askedAt > trustMs) {
        askedAt = now
        isFull = freeBytes(directory).then((free) => free < minFreeBytes)
      }
      if (now - failedAt < failureMs || (await isFull)) throw storageFull()
    },
  }
}

/** A directory that is not there yet, as with PostgreSQL before the first upload, has no lack of room. */
async function freeBytes(directory: string): Promise<number> {
  return statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  )
}
