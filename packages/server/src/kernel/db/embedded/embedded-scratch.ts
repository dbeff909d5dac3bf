// Databases beside the embedded one that are thrown away: on the same disk, which is large enough for what is in it.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Db } from '../db.ts'

const mark = '.scratch-'
let opened = 0

export type Scratches = {
  /** Closing it removes its files. */
  open(): Promise<Db>
  /** Closes those that are still open. */
  close(): Promise<unknown>
}

export function createScratches(directory: string, openAt: (own: string) => Promise<Db>): Scratches {
  const open = new Set<Db>()
  return {
    async open() {
      const own = `${directory}${mark}${process.pid}-${++opened}`
      const remove = (): Promise<void> => rm(own, { recursive: true, force: true })
      const db = await openAt(own).catch(async (error) => {
        await remove()
        throw error
      })
      let closing: Promise<void> | undefined
      const close = (): Promise<void> => {
        closing ??= db
          .close()
          .finally(remove)
          .finally(() => open.delete(scratch))
        return closing
      }
      const scratch = { ...db, close }
      open.add(scratch)
      return scratch
    },
    close: () => Promise.all([...open].map((scratch) => scratch.close())),
  }
}

/** Those that a killed process has left: the lock of the data directory says that no other is at work. */
export async function removeScratches(directory: string): Promise<void> {
  const [parent, begin] = [dirname(directory), `${basename(directory)}${mark}`]
  for (const name of await readdir(parent)) {
    if (name.startsWith(begin)) await rm(join(parent, name), { recursive: true, force: true })
  }
}
