// DDL of tables that the API makes, with the rights of the platform, in the schema of the application.

import { codeOf } from '../../kernel/db/database-error.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { publicDatabaseMessage } from '../../kernel/db/public-message.ts'
import { ident, joinSql, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import { unknownSrid } from '../uploads/load/known-srids.ts'
import { columnSql, literal, type NewColumn } from './column-definition.ts'

const lockTimeout = '2s'

/** DDL waits for locks for a short time only: others queue behind it. */
export const limitLocks = (tx: Queryable): Promise<void> => tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)

/** Table, key, spatial indexes, and the trigger that notes its changes. */
export async function makeTable(
  tx: Queryable,
  { schema, name }: TableName,
  columns: readonly NewColumn[],
): Promise<void> {
  await limitLocks(tx)
  const key = columns.filter(({ attribute }) => attribute.primaryKey).map(({ attribute }) => ident(attribute.name))
  const parts = [...columns.map(columnSql), sql`PRIMARY KEY (${joinSql(key, ', ')})`]
  await tx.query(sql`CREATE TABLE ${ident(schema, name)} (${joinSql(parts, ', ')})`).catch(explainDdl)
  for (const column of columns) await finishColumn(tx, ident(schema, name), column)
  await tx.query(sql`SELECT svc.watch_tables(${schema})`)
}

export async function addColumn(tx: Queryable, { schema, name }: TableName, column: NewColumn): Promise<void> {
  const table = ident(schema, name)
  await tx.query(sql`ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}`).catch(explainDdl)
  await finishColumn(tx, table, column)
}

export async function dropColumn(tx: Queryable, { schema, name }: TableName, column: string): Promise<void> {
  await tx.query(sql`ALTER TABLE ${ident(schema, name)} DROP COLUMN ${ident(column)}`).catch(explainDdl)
}

/** A column may name a system that nobody knows; its geometries could not be transformed. */
async function checkSrid(tx: Queryable, { path, attribute: { srid } }: NewColumn): Promise<void> {
  if (srid === undefined) return
  if ((await unknownSrid(tx, [srid])) !== undefined)
    throw invalid(`${path}/srid`, 'must be the number of a known reference system, such as 4326 or 3067')
}

/** Its index, and its description. */
async function finishColumn(tx: Queryable, table: Sql, column: NewColumn): Promise<void> {
  const { name, type, description } = column.attribute
  await checkSrid(tx, column)
  if (type === 'geometry') await tx.query(sql`CREATE INDEX ON ${table} USING gist (${ident(name)})`)
  if (description !== '') await tx.query(sql`COMMENT ON COLUMN ${table}.${ident(name)} IS ${literal(description)}`)
}

const words: Readonly<Record<string, string>> = {
  '42P07':
    'There is a table of this name already. Leave columns out to make a dataset of it, or choose another source.',
  '42P01': 'The table of this dataset does not exist any more.',
  '42703': 'The table has no such column any more.',
  '42701': 'There is a column of this name already.',
  '2BP01': 'Other objects of the database, such as views, depend on the column. Delete them first.',
  '0A000': 'Other objects of the database, such as views, depend on the column. Delete them first.',
  '57014': 'The table has so many rows that this took longer than 30 s. Nothing was changed.',
  '55P03': 'The table is in use. Nothing was changed; try again.',
  '23502': 'The table has rows, which would have no value in the column: give a default, or allow null.',
}

export function explainDdl(error: unknown): never {
  const code = codeOf(error)
  // Two at once, of the same name.
  const isTaken = code === '23505'
  const detail = isTaken ? words['42P07'] : Object.hasOwn(words, code) ? words[code] : undefined
  if (detail === undefined && error instanceof Error && /^(22|42|54)/.test(code)) {
    throw new ApiError('invalid_request', `The database says: ${publicDatabaseMessage(error)}`, { cause: error })
  }
  if (detail === undefined) throw error
  throw new ApiError('conflict', detail, { cause: error })
}
