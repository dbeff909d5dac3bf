// The parent directory of the embedded databases of a test run. It is in memory, because PostgreSQL syncs a file at each commit
// and nobody needs a test's database after a power cut.
import { existsSync, globSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'graticule-tests-'
// A database takes 60 to 500 MB, and at most six files run at once. Containers often give this file system only 64 MB.
const neededBytes = 4 * 1024 ** 3

// Undefined where there is no file system in memory with enough room: the databases are then in the usual temporary directory.
// It is removed with this process, also what test files that were killed have left in it.
export function makeDatabaseDirectory(): string | undefined {
  if (!hasRoom()) return undefined
  for (const name of globSync(`${prefix}*`, { cwd: memory })) {
    if (!existsSync(`/proc/${name.slice(prefix.length)}`)) rmSync(join(memory, name), { recursive: true, force: true })
  }
  const directory = join(memory, `${prefix}${process.pid}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  return directory
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= neededBytes
  } catch {
    return false
  }
}
