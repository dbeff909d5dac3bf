// Databases beside the embedded one that are thrown away: on the same disk, which is large enough for what is in it.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Db } from '../db.ts'

const mark = '.scratch-'
let opened = 0

/** Closing it removes its files. */
export async function openScratch(directory: string, open: (own: string) => Promise<Db>): Promise<Db> {
  const own = `${directory}${mark}${process.pid}-${++opened}`
  const remove = (): Promise<void> => rm(own, { recursive: true, force: true })
  try {
    const db = await open(own)
    return { ...db, close: () => db.close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Those that a killed process has left: the lock of the data directory says that no other is at work. */
export async function removeScratches(directory: string): Promise<void> {
  const [parent, begin] = [dirname(directory), `${basename(directory)}${mark}`]
  for (const name of await readdir(parent)) {
    if (name.startsWith(begin)) await rm(join(parent, name), { recursive: true, force: true })
  }
}
