// The statements that write rows. Every value is a text parameter that is cast to its column's type.
import type { Row, Transaction } from '../../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { columnSet } from '../input/checked-rows.ts'
import { geometrySql } from '../input/geometry-column.ts'
import type { PreparedRow } from '../input/prepare-rows.ts'
import type { EditColumn, EditTable } from './edit-table.ts'
import { type EditTransaction, insertStatement } from './edit-transaction.ts'
import { refusedByRule } from './ruled-write.ts'
import { writeTimeoutMs } from './write-errors.ts'

export const conflictRules = ['ignore', 'update'] as const
export type ConflictRule = (typeof conflictRules)[number]

export type InsertOptions = {
  readonly onConflict: ConflictRule | undefined
  readonly repair: boolean
  readonly returning: Sql
  /** SQL: whether a row with these columns is one that the caller may write; undefined where every row is. */
  readonly mayBecome?: (names: readonly string[]) => Sql | undefined
}

const list = (items: readonly Sql[]): Sql => joinSql(items, ', ')

/** Every write waits for locks for a short time only: others queue behind it. */
export const setWriteLimits = (tx: Transaction): Promise<void> =>
  tx.script(`SET LOCAL statement_timeout = ${writeTimeoutMs}; SET LOCAL lock_timeout = 2000`)

function valueSql(column: EditColumn, text: Sql, repair: boolean): Sql {
  if (column.geometry) return geometrySql(text, column.geometry, repair)
  return sql`(${text})::${raw(column.castTo)}`
}

/** Rows with the same columns are inserted together; a column that a row lacks gets its default. */
export async function insertRows(
  tx: EditTransaction,
  table: EditTable,
  rows: readonly PreparedRow[],
  options: InsertOptions,
  signal: AbortSignal,
): Promise<Row[]> {
  const made: Row[] = []
  for (const group of Map.groupBy(rows, columnSet).values()) {
    const statement = (returning: Sql): Sql => insertSql(table, group, { ...options, returning })
    const existing = options.onConflict === 'update' ? hasKeyOf(table, group) : undefined
    const isAllowed = options.mayBecome?.([...(group[0]?.cells.keys() ?? [])].map(({ name }) => name))
    const returning = withAllowed(options.returning, isAllowed)
    for (const row of await insertStatement(tx, { statement, returning, existing }, signal)) {
      if (isAllowed && row.allowed !== true) throw refusedByRule('append')
      made.push(row)
    }
  }
  return made
}

/** RETURNING with whether each row is one that the caller may have written. */
export const withAllowed = (returning: Sql, isAllowed: Sql | undefined): Sql =>
  isAllowed ? sql`${returning}, coalesce(${isAllowed}, FALSE) AS allowed` : returning

function insertSql({ from, key }: EditTable, rows: readonly PreparedRow[], options: InsertOptions): Sql {
  const { onConflict, repair, returning } = options
  const columns = [...(rows[0]?.cells.keys() ?? [])]
  const names = columns.map((_, index) => raw(`c${index}`))
  const values = columns.map((column, index) => valueSql(column, sql`r.${names[index] as Sql}`, repair))
  const arrays = columns.map((column) => sql`${rows.map(({ cells }) => cells.get(column) ?? null)}::text[]`)
  return sql`
    INSERT INTO ${from} AS q (${list(columns.map(({ name }) => ident(name)))})
    SELECT ${list(values)} FROM unnest(${list(arrays)}) WITH ORDINALITY AS r(${list([...names, raw('n')])}) ORDER BY r.n
    ${conflictSql(onConflict, key, columns)} RETURNING ${returning}`
}

/** SQL: the key of a row with the alias `q` is one of those given. */
function hasKeyOf({ key }: EditTable, rows: readonly PreparedRow[]): Sql {
  const names = key.map((_, index) => raw(`k${index}`))
  const arrays = key.map((column) => sql`${rows.map(({ cells }) => cells.get(column) ?? null)}::text[]`)
  const values = key.map((column, index) => valueSql(column, sql`r.${names[index] as Sql}`, false))
  return sql`(${list(key.map(({ name }) => sql`q.${ident(name)}`))}) IN (
    SELECT ${list(values)} FROM unnest(${list(arrays)}) AS r(${list(names)}))`
}

function conflictSql(rule: ConflictRule | undefined, key: readonly EditColumn[], columns: readonly EditColumn[]): Sql {
  if (rule === undefined) return raw('')
  const others = columns.filter((column) => !key.includes(column))
  if (rule === 'ignore') return raw('ON CONFLICT DO NOTHING')
  const target = list(key.map(({ name }) => ident(name)))
  // A key alone changes nothing, but the row is still returned.
  const changed = others.length > 0 ? others : key
  const changes = changed.map(({ name }) => sql`${ident(name)} = EXCLUDED.${ident(name)}`)
  return sql`ON CONFLICT (${target}) DO UPDATE SET ${list(changes)}`
}

export type UpdateOptions = {
  readonly repair: boolean
  readonly returning: Sql
  readonly defaults?: readonly EditColumn[]
}

export function updateSql({ from }: EditTable, { cells }: PreparedRow, condition: Sql, options: UpdateOptions): Sql {
  const { repair, returning, defaults = [] } = options
  const changes = [
    ...[...cells].map(([column, text]) => sql`${ident(column.name)} = ${valueSql(column, sql`${text}::text`, repair)}`),
    ...defaults.map(({ name }) => sql`${ident(name)} = DEFAULT`),
  ]
  return sql`UPDATE ${from} AS q SET ${list(changes)} WHERE ${condition} RETURNING ${returning}`
}

export const deleteSql = ({ from }: EditTable, condition: Sql, returning: Sql): Sql =>
  sql`DELETE FROM ${from} AS q WHERE ${condition} RETURNING ${returning}`
