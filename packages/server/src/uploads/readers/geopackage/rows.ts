import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { maxFeatureBytes, type PassOptions, ReadFault } from '../reader.ts'
import { ownExpression } from '../sqlite/sqlite-file.ts'
import type { PackageTable } from './tables.ts'
import { tooLarge } from './values.ts'

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
  if (isSqlite && /too big/.test(error.message)) return new ReadFault('row_too_large', 'A row is too large.', {}, error)
  return isSqlite ? new ReadFault('invalid_file', `The GeoPackage is damaged: ${error.message}.`, {}, error) : error
}

export type Row = readonly SQLOutputValue[]

/** All rows in order: the row's number, the geometry, the fields. In a sound file the numbers grow. */
export async function* rowsOf(
  database: DatabaseSync,
  { name, number, geometry, columns, aliases }: PackageTable,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Row[]> {
  const values = columns.map(({ alias, isBulky }) => (isBulky ? limited(alias) : alias))
  const all = ['number', geometry === undefined ? 'NULL' : limited(geometry), ...values]
  const source = `WITH ${ownExpression} (number, ${aliases.join(', ')}) AS (SELECT ${number}, * FROM ${quoted(name)})`
  try {
    const last = Number(database.prepare(`SELECT max(${number}) AS last FROM ${quoted(name)}`).get()?.last ?? 0)
    const statement = database.prepare(
      `${source} SELECT ${all.join(', ')} FROM ${ownExpression} WHERE number >= ? ORDER BY number LIMIT ?`,
    )
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    let [from, limit, count] = [leastNumber, rowsAtOnce.first, 0]
    for (;;) {
      const rows = statement.all(from, limit) as unknown as Row[]
      for (const row of rows) {
        const at = row[0] as bigint
        if (at < from) throw new ReadFault('invalid_file', 'The GeoPackage is damaged: rows occur twice.')
        from = at + 1n
      }
      count += rows.length
      yield rows
      if (rows.length < limit || from > mostNumber) break
      limit = Math.max(1, Math.min(rowsAtOnce.most, Math.floor(rowsAtOnce.bytes / bytesOfRow(rows))))
      await setImmediate()
      signal.throwIfAborted()
      onProgress?.(Math.min(Math.max(Number(from) / last, 0), 1))
    }
    // Where numbers do not grow, rows are not found by them. Not counted further than needed: a tree of pages may come
    // back to the same page again and again.
    const rest = `WITH ${ownExpression} AS (SELECT 1 FROM ${quoted(name)} NOT INDEXED LIMIT ?)`
    const { all: expected } =
      database.prepare(`${rest} SELECT count(*) AS "all" FROM ${ownExpression}`).get(count + 1) ?? {}
    if (count !== expected) throw new ReadFault('invalid_file', 'The GeoPackage is damaged: rows cannot be found.')
  } catch (error) {
    throw asFault(error)
  }
}

const leastNumber = -(2n ** 63n)
const mostNumber = 2n ** 63n - 1n

/** What a row of these takes, more or less. */
function bytesOfRow(rows: readonly Row[]): number {
  let total = 0
  for (const row of rows) {
    for (const value of row) total += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return total / rows.length
}

/** What is too large never comes into memory: a word that no file can know takes its place. */
function limited(alias: string): string {
  return `iif(octet_length(${alias}) > ${maxFeatureBytes}, '${tooLarge}', ${alias})`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
