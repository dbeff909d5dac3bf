import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/** Which kind of tile archive a file is; undefined when it is none. A database is one when it has the tables. */
export async function tileArchiveKind(file: string): Promise<'mbtiles' | 'pmtiles' | undefined> {
  const handle = await open(file)
  const head = Buffer.alloc(16)
  try {
    await handle.read(head, 0, head.length, 0)
  } finally {
    await handle.close()
  }
  // Only the third version is read; it has its number behind its name.
  if (head.toString('latin1', 0, 7) === 'PMTiles') return head[7] === 3 ? 'pmtiles' : undefined
  return head.toString('latin1') === 'SQLite format 3\0' && hasTileTables(file) ? 'mbtiles' : undefined
}

function hasTileTables(file: string): boolean {
  try {
    const url = pathToFileURL(file)
    url.search = '?mode=ro&immutable=1'
    using database = new DatabaseSync(url, { readOnly: true })
    const found = database
      .prepare(
        "SELECT count(DISTINCT lower(name)) AS count FROM sqlite_schema WHERE lower(name) IN ('tiles', 'metadata')",
      )
      .get()
    return found?.count === 2
  } catch {
    return false
  }
}
