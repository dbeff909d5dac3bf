import type { Row, Transaction } from '../../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { InsertStatement, RowStatement, WrittenRows } from './written-rows.ts'

/** The transaction of a write. `written`: what it does is told to those who follow a table in another database. */
export type EditTransaction = Transaction & { readonly written?: WrittenRows | undefined }

/** Runs it, and answers what is returned of each row. */
export function writeRows(
  tx: EditTransaction,
  write: RowStatement,
  returning: Sql,
  signal: AbortSignal,
): Promise<Row[]> {
  if (tx.written) return tx.written.write(tx, write, returning, signal)
  return tx.cancellable(write.statement(returning), signal)
}

export function insertStatement(tx: EditTransaction, insert: InsertStatement, signal: AbortSignal): Promise<Row[]> {
  if (tx.written) return tx.written.insert(tx, insert, signal)
  return tx.cancellable(insert.statement(insert.returning), signal)
}

/** Runs it, and answers how many rows were written. */
export async function countRows(tx: EditTransaction, write: RowStatement, signal: AbortSignal): Promise<number> {
  if (tx.written) return tx.written.count(tx, write, signal)
  const counted = sql`WITH written AS (${write.statement(raw('1'))}) SELECT count(*)::int4 AS count FROM written`
  const [row] = await tx.cancellable<{ count: number }>(counted, signal)
  return row?.count ?? 0
}
