// Databases beside the embedded one that are thrown away: on the same disk, which is large enough for what is in it.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unavailable } from '../database-error.ts'
import type { Db } from '../db.ts'

const mark = '.scratch-'
let opened = 0

export type Scratches = {
  /** Closing it removes its files. */
  open(): Promise<Db>
  /** Closes those that are open or about to be; none opens afterwards. */
  close(): Promise<unknown>
}

export function createScratches(directory: string, openAt: (own: string) => Promise<Db>): Scratches {
  const open = new Set<Promise<Db>>()
  let isClosed = false

  async function openNext(onEnd: () => void): Promise<Db> {
    const own = `${directory}${mark}${process.pid}-${++opened}`
    const end = (): Promise<void> => rm(own, { recursive: true, force: true }).finally(onEnd)
    const db = await openAt(own).catch(async (error) => {
      await end()
      throw error
    })
    let closing: Promise<void> | undefined
    const close = (): Promise<void> => {
      closing ??= db.close().finally(end)
      return closing
    }
    return { ...db, close }
  }

  return {
    async open() {
      if (isClosed) throw unavailable(new Error('The database is closed'))
      const scratch = openNext(() => open.delete(scratch))
      open.add(scratch)
      return await scratch
    },
    close() {
      isClosed = true
      return Promise.all([...open].map(async (scratch) => (await scratch.catch(() => undefined))?.close()))
    },
  }
}

/** Those that a killed process has left: the lock of the data directory says that no other is at work. */
export async function removeScratches(directory: string): Promise<void> {
  const [parent, begin] = [dirname(directory), `${basename(directory)}${mark}`]
  for (const name of await readdir(parent)) {
    if (name.startsWith(begin)) await rm(join(parent, name), { recursive: true, force: true })
  }
}
