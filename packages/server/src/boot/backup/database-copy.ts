import { readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Db } from '../../kernel/db/db.ts'
import { demandRoom } from './restore-target.ts'

/** The copy of the embedded database that a running server makes for a backup. */
export const copyDirectory = (directory: string): string => join(directory, 'database-copy')

/** What a running server does for a backup. */
export async function copyDatabase(db: Db, directory: string): Promise<string> {
  const copy = copyDirectory(resolve(directory))
  // What a backup that was killed has left. One that is under way has it open.
  await rm(copy, { recursive: true, force: true })
  const bytes = await bytesBelow(join(directory, 'database'))
  await demandRoom(directory, bytes, 'a copy of the database, from which the backup is made,')
  await db.copyFiles?.(copy)
  return copy
}

async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  let bytes = 0
  for (const entry of entries) {
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      )
  }
  return bytes
}
