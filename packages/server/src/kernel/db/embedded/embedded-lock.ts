import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../../errors.ts'

export type Lock = { release(): void }

const busy = 5

export const lockFile = 'graticule.lock'

/**
 * Takes the data directory for this process. The lock is the operating system's, held through SQLite because Node has
 * no call for it: it ends with the process, however that ends, and holds between containers that see different process
 * numbers. The number in the file only serves the message.
 */
export function lockDirectory(directory: string): Lock {
  const file = new DatabaseSync(join(directory, lockFile), { timeout: 100 })
  try {
    file.exec('PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
    // Whoever holds it, others can read the number and cannot begin.
    file.exec(`BEGIN IMMEDIATE; DELETE FROM holder; INSERT INTO holder VALUES (${process.pid}); COMMIT`)
    file.exec('BEGIN IMMEDIATE')
    return { release: () => file.close() }
  } catch (error) {
    const holder = isBusy(error) ? holderOf(file) : undefined
    file.close()
    if (holder === undefined) throw error
    throw new StartError(
      `The data directory ${directory} is in use by process ${holder}. Stop it, or set DATA_DIR to another directory.`,
    )
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === busy

function holderOf(file: DatabaseSync): unknown {
  try {
    return file.prepare('SELECT pid FROM holder').get()?.pid
  } catch {
    return undefined
  }
}
