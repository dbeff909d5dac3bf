import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { maxFeatureBytes, ReadFault } from '../reader.ts'
import { tableExpression } from '../sqlite/sqlite-file.ts'
import type { PackageTable } from './tables.ts'

/** Rows are read so many at a time, fewer where they are large: rows that are gone soon cost next to nothing. */
const rowsAtOnce = { first: 20, most: 200, bytes: 512 * 1024 }

/** Reads of the database; what it cannot read is a fault of the file. */
export function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asFault(error)
  }
}

function asFault(error: unknown): unknown {
  const isSqlite = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
  if (isSqlite && /too big/.test(error.message))
    return new ReadFault('row_too_large', `A value is larger than ${maxFeatureBytes} bytes, the limit.`, {}, error)
  return isSqlite ? new ReadFault('invalid_file', `The GeoPackage is damaged: ${error.message}.`, {}, error) : error
}

export type SqliteRow = readonly SQLOutputValue[]

/** All rows of a table in order: the row's number, the geometry, the fields. In a sound file the numbers grow. */
export type PackageRows = {
  /** The next few; undefined when all were read. */
  next(): readonly SqliteRow[] | undefined
  progress(): number
}

export function openRows(database: DatabaseSync, table: PackageTable): PackageRows {
  const { number } = table
  const name = quoted(table.name)
  const last = Number(database.prepare(`SELECT max(${number}) AS last FROM ${name}`).get()?.last ?? 0)
  const statement = database.prepare(selectOf(table))
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  let [before, limit, count, isOver] = [leastNumber - 1n, rowsAtOnce.first, 0, false]
  return {
    next() {
      if (isOver) return undefined
      const rows = guarded(() => statement.all(before + 1n, limit)) as unknown as SqliteRow[]
      for (const row of rows) {
        const at = row[0] as bigint
        if (at <= before) throw new ReadFault('invalid_file', 'The GeoPackage is damaged: rows occur twice.')
        before = at
      }
      count += rows.length
      isOver = rows.length < limit || before === mostNumber
      if (isOver) guarded(() => demandAll(database, name, count))
      else limit = Math.max(1, Math.min(rowsAtOnce.most, Math.floor(rowsAtOnce.bytes / bytesOfRow(rows))))
      return rows
    },
    progress: () => Math.min(Math.max(Number(before) / (last || 1), 0), 1),
  }
}

/** The geometries of points are read as digits, because a blob costs several times as much as a short text. */
function selectOf({ name, number, geometry = 'NULL', isOfPoints, columns, aliases }: PackageTable): string {
  const values = ['number', isOfPoints ? `hex(${geometry})` : geometry, ...columns.map(({ alias }) => alias)]
  return `WITH ${tableExpression} (number, ${aliases.join(', ')}) AS (SELECT ${number}, * FROM ${quoted(name)})
    SELECT ${values.join(', ')} FROM ${tableExpression} WHERE number >= ? ORDER BY number LIMIT ?`
}

/**
 * Where numbers do not grow, rows are not found by them. Not counted further than needed: a tree of pages may come back to the
 * same page again and again.
 */
function demandAll(database: DatabaseSync, name: string, count: number): void {
  const rows = `WITH ${tableExpression} AS (SELECT 1 FROM ${name} NOT INDEXED LIMIT ?)`
  const { all } = database.prepare(`${rows} SELECT count(*) AS "all" FROM ${tableExpression}`).get(count + 1) ?? {}
  if (all !== count) throw new ReadFault('invalid_file', 'The GeoPackage is damaged: rows cannot be found.')
}

const leastNumber = -(2n ** 63n)
const mostNumber = 2n ** 63n - 1n

/** What a row of these takes, more or less. */
function bytesOfRow(rows: readonly SqliteRow[]): number {
  let total = 0
  for (const row of rows) {
    for (const value of row) total += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return total / rows.length
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
