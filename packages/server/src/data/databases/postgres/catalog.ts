// Queries of the catalogs of PostgreSQL.
import { codeOf } from '../../../kernel/db/database-error.ts'
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'

/** A row by the names of its columns. */
export type Cells = Record<string, string | null>

export const catalogOf = ({ catalog, select }: PostgresConnection): Pick<PostgresConnection, 'select'> => ({
  select: catalog ?? select,
})

/** Whose rights count: in the platform's database a role has the name of its schema. */
export const roleOf = ({ catalog, schema }: PostgresConnection): Sql =>
  catalog ? sql`${schema}::name` : raw('current_user')

/** A number of rows, bytes or a reference system; nothing where a server says what PostgreSQL would not. */
export function readCount(text: string | null | undefined): number | null {
  const count = Number(text ?? Number.NaN)
  return Number.isSafeInteger(count) && count >= 0 ? count : null
}

/** A list in JSON that the statement has made; an empty one where a server says what PostgreSQL would not. */
export function readList(text: string | null | undefined): unknown[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

/** The rows of a statement by the names of its columns, as text. */
export async function facts(
  connection: Pick<PostgresConnection, 'select'>,
  options: SelectOptions,
  statement: Sql,
): Promise<Cells[]> {
  const { columns, batches } = await connection.select(statement, options)
  const rows: Cells[] = []
  for await (const batch of batches) {
    for (const cells of batch)
      rows.push(Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? null])))
  }
  return rows
}

/**
 * True, and a lock: nobody drops the table, nor a partition right below it, before the statement ends. PostGIS's functions that are
 * given a table open it without one, and a table that was dropped a moment before crashes the process, and with it all sessions of
 * the server (_postgis_index_extent and ST_EstimatedExtent of PostGIS 3.3). A statement's tables are locked when it is parsed; `false`
 * keeps it from reading them, and from asking the server of a foreign table.
 */
export const isHeld = ({ schema, name }: { readonly schema: string; readonly name: string }): Sql =>
  sql`NOT EXISTS (SELECT FROM ${ident(schema, name)} WHERE false)`

/** Facts of a statement that names a table; none if that is gone, or if the role may not read it. */
export async function factsOfTable(
  connection: Pick<PostgresConnection, 'select'>,
  options: SelectOptions,
  statement: Sql,
): Promise<Cells[]> {
  try {
    return await facts(connection, options, statement)
  } catch (error) {
    if (isAbsentOrClosed(error)) return []
    throw error
  }
}

const isAbsentOrClosed = (error: unknown): boolean =>
  /^(42P01|3F000|42501)$/.test(codeOf(error)) ||
  (error instanceof Error && error.cause !== undefined && isAbsentOrClosed(error.cause))
