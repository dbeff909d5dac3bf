// The sequence of a key, where rows come with numbers of their own.
import type { Transaction } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import type { EditTable } from '../writing/edit-table.ts'
import type { PreparedRow } from './prepare-rows.ts'

/** A number that a row came with, and where. */
export type NumberedRow = { readonly number: bigint; readonly path: string }

export type SequenceOptions = {
  /** One that the key got in this transaction. */
  readonly sequence?: string | undefined
  /** How far ahead of the sequence a number may be: the largest of all, sent through a public form, would make its row the last. */
  readonly maxLead?: number | undefined
}

/**
 * Keeps the sequence of the key ahead of numbers that are given. The lock keeps out all who insert until both are committed, since
 * a sequence knows no transactions.
 */
export async function aheadOfSequence(
  tx: Transaction,
  { from, key }: EditTable,
  highest: NumberedRow | undefined,
  { sequence: newSequence, maxLead }: SequenceOptions = {},
): Promise<() => Promise<void>> {
  const [column, ...others] = key
  const name = newSequence ?? column?.sequence
  if (!name || others.length > 0 || !highest) return async () => {}
  const sequence = sql`${name}::regclass`
  const number = sql`${String(highest.number)}::int8`
  const last = sql`coalesce(pg_sequence_last_value(${sequence}), 0)`
  const [row] = await tx.query<{ lead: string }>(sql`SELECT (${number}::numeric - ${last})::text AS lead`)
  const lead = BigInt(row?.lead ?? 0)
  if (lead <= 0n) return async () => {}
  if (maxLead !== undefined && lead > maxLead)
    throw invalid(highest.path, 'is too far ahead of the numbers of the rows: leave it out')
  await tx.query(sql`LOCK TABLE ${from} IN SHARE ROW EXCLUSIVE MODE`)
  return async () => {
    await tx.query(sql`SELECT setval(${sequence}, ${number}) WHERE ${last} < ${number}`)
  }
}

/** The larger of a number and that of a row, where the key is one whole number. */
export function largerOf(
  most: NumberedRow | undefined,
  { cells, path }: PreparedRow,
  { key }: Pick<EditTable, 'key'>,
): NumberedRow | undefined {
  const [column, ...others] = key
  const text = column?.type === 'integer' && others.length === 0 ? cells.get(column) : undefined
  if (!column || typeof text !== 'string') return most
  const number = BigInt(text)
  return most === undefined || number > most.number ? { number, path: `${path}/${column.name}` } : most
}
