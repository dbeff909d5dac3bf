import { readStart } from '../file-start.ts'
import { openSqliteFile } from './sqlite-file.ts'

/** Which kind of tile archive a file is; undefined when it is none. A database is one when it has the tables. */
export async function tileArchiveKind(file: string): Promise<'mbtiles' | 'pmtiles' | undefined> {
  const head = await readStart(file, 16)
  // Only the third version is read; it has its number behind its name.
  if (head.toString('latin1', 0, 7) === 'PMTiles') return head[7] === 3 ? 'pmtiles' : undefined
  return head.toString('latin1') === 'SQLite format 3\0' && hasTileTables(file) ? 'mbtiles' : undefined
}

function hasTileTables(file: string): boolean {
  try {
    const opened = openSqliteFile(file)
    opened.close()
    return opened.entries.has('tiles') && opened.entries.has('metadata')
  } catch {
    return false
  }
}
