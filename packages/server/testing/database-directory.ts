import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory for the files of an embedded database; a test run gives one in memory (scripts/database-directory.ts). */
export function makeDatabaseDirectory(name: string): Promise<string> {
  return mkdtemp(join(process.env.TEST_DATABASE_DIRECTORY ?? tmpdir(), `graticule-${name}-`))
}
