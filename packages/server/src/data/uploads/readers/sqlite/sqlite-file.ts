import { constants, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { maxFeatureBytes, ReadFault } from '../reader.ts'

/**
 * An SQLite file of a stranger's, opened read-only. Three checks, because each alone has a gap: a table is read only when its
 * definition says that it is a plain one, the authorizer lets through nothing but reads of such tables by our own
 * statements, and whoever started this process ends it when it makes no progress.
 */
export type SqliteFile = {
  readonly database: DatabaseSync
  /** Every table, view, index and trigger by its name in lower case; the plain tables by the name that they have. */
  readonly entries: ReadonlyMap<string, { readonly name: string; readonly isPlainTable: boolean }>
  close(): void
}

/** The name of the one common table expression that our statements may have. */
export const tableExpression = 'graticule_source'

const maxEntries = 20_000
/** Larger values never come into memory. */
const limits = { length: maxFeatureBytes, sqlLength: 1_000_000, attach: 0, vdbeOp: 100_000, triggerDepth: 1 }
const allowedFunctions: ReadonlySet<unknown> = new Set(['hex', 'max', 'count', 'lower', 'upper', 'substr'])

export function openSqliteFile(file: string): SqliteFile {
  const url = pathToFileURL(file)
  // Immutable: no locks, and no journal beside the file is made or believed.
  url.search = '?mode=ro&immutable=1'
  const database = new DatabaseSync(url, { readOnly: true, allowExtension: false, defensive: true, limits })
  try {
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON')
    database.exec('PRAGMA cache_size = -16000')
    const readable = new Set(['sqlite_master', 'pragma_table_xinfo', tableExpression])
    database.setAuthorizer((action, first, second, _database, within) => {
      const isTrusted = within === null || within === tableExpression
      return isTrusted && isAllowed(readable, action, first, second) ? constants.SQLITE_OK : constants.SQLITE_DENY
    })
    const entries = entriesOf(database)
    for (const [key, { isPlainTable }] of entries) if (isPlainTable) readable.add(key)
    return { database, entries, close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

function isAllowed(
  readable: ReadonlySet<string>,
  action: number,
  first: string | null,
  second: string | null,
): boolean {
  if (action === constants.SQLITE_SELECT) return true
  if (action === constants.SQLITE_READ) return readable.has(String(first).toLowerCase())
  if (action === constants.SQLITE_FUNCTION) return allowedFunctions.has(second)
  return action === constants.SQLITE_PRAGMA && first === 'table_xinfo'
}

function entriesOf(database: DatabaseSync): SqliteFile['entries'] {
  const rows = database
    .prepare('SELECT type, name, sql FROM sqlite_schema LIMIT ?')
    .all(maxEntries + 1)
    .map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql ?? '') }))
  if (rows.length > maxEntries)
    throw new ReadFault('invalid_file', `There are more than ${maxEntries} tables and indexes.`)
  const entries = new Map<string, { name: string; isPlainTable: boolean }>()
  for (const { type, name, sql } of rows) {
    const isPlainTable = type === 'table' && definedTable(sql) === name
    entries.set(name.toLowerCase(), { name, isPlainTable })
  }
  return entries
}

/**
 * The name of the plain table that a definition makes. SQLite goes by the definition, and a forged file may say something
 * else beside it. SQLite writes definitions down beginning with `CREATE TABLE` and the name.
 */
function definedTable(sql: string): string | undefined {
  const [, quote, doubled, bracketed, backticked, bare] =
    /^CREATE TABLE\s+(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|\[([^\]]*)\]|`((?:[^`]|``)*)`|([^\s("'`[]+))/i.exec(sql) ?? []
  return (
    quote?.replaceAll('""', '"') ??
    doubled?.replaceAll("''", "'") ??
    bracketed ??
    backticked?.replaceAll('``', '`') ??
    bare
  )
}
