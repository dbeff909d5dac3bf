import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export type Lock = { release(): void }

/**
 * Takes the data directory for this process. The lock is the operating system's, held through SQLite because Node has
 * no call for it: it ends with the process, however that ends, and holds between containers that see different process
 * numbers. The number in the file only serves the message.
 */
export function lockDirectory(directory: string): Lock {
  const file = new DatabaseSync(join(directory, 'graticule.lock'), { timeout: 100 })
  try {
    file.exec('PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS holder (pid INTEGER)')
    if (!reserve(file)) throw new Error(`The data directory ${directory} is in use by process ${holder(file)}.`)
    file.exec(`DELETE FROM holder; INSERT INTO holder VALUES (${process.pid}); COMMIT`)
    if (!reserve(file)) throw new Error(`The data directory ${directory} is in use by process ${holder(file)}.`)
  } catch (error) {
    file.close()
    throw error
  }
  return { release: () => file.close() }
}

/** Others can still read the number of the holder. */
function reserve(file: DatabaseSync): boolean {
  try {
    file.exec('BEGIN IMMEDIATE')
    return true
  } catch {
    return false
  }
}

const holder = (file: DatabaseSync): unknown => file.prepare('SELECT pid FROM holder').get()?.pid ?? 'unknown'
