import type { Db } from '../db/db.ts'
import { ident, joinSql, raw, sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { NewTable } from '../query/connection.ts'

/** What a column of a new table can be. */
const columnType =
  /^(text|boolean|smallint|integer|bigint|real|double precision|numeric|date|time|timestamp|timestamptz|uuid|jsonb|bytea|geometry|geometry\([A-Za-z]{3,25},\d{1,6}\))$/

/** Makes a table of lines in COPY's text format: all of them, or no table. Answers how many rows it has. */
export async function loadTable(
  db: Db,
  schema: string,
  { name, columns }: NewTable,
  lines: AsyncIterable<string>,
): Promise<number> {
  const wrong = columns.find(({ type }) => !columnType.test(type))
  if (wrong) throw new ApiError('invalid_request', `"${wrong.name}" cannot be of type ${wrong.type}.`)
  const table = ident(schema, name)
  const declared = columns.map((column) => sql`${ident(column.name)} ${raw(column.type)}`)
  const names = columns.map((column) => ident(column.name))
  return db.transaction(async (tx) => {
    await tx.query(sql`CREATE TABLE ${table} (${joinSql(declared, ', ')})`)
    return tx.copyIn(sql`COPY ${table} (${joinSql(names, ', ')}) FROM STDIN`, lines)
  })
}
