/**
 * Writes of callers whom rules bind: which columns they may write, what the server writes for them, and that rows were theirs before and are
 * after. Rows that they may not see are not there.
 */
import { and, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import { anyOf } from '../../../query/filter/filter-tree.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { Narrowing, WriteRule } from '../../datasets/rules/narrowing-type.ts'
import type { InputRow } from '../input/input-row.ts'
import type { RowsBody } from '../input/input-rows.ts'
import type { EditTable } from './edit-table.ts'
import type { EditTransaction } from './edit-transaction.ts'

type Level = keyof Narrowing['writes']
type Ruled = { readonly dataset: Dataset; readonly table: EditTable }

const refusals: Readonly<Record<Level, string>> = {
  append: 'add such rows',
  change: 'change the rows in this way',
  delete: 'delete the rows',
}

export const refusedByRule = (level: Level): ApiError =>
  new ApiError('rule_refused', `The rules of the dataset do not allow you to ${refusals[level]}. Nothing was written.`)

/** The columns that the caller may know of: those that are seen, and those that a rule lets be written. */
export function knownColumns(table: EditTable, dataset: Dataset): EditTable {
  const { narrowing } = dataset
  if (!narrowing) return table
  const { append, change } = narrowing.writes
  const seen = new Set(dataset.attributes.map(({ name }) => name))
  const isKnown = (name: string): boolean => seen.has(name) || [...append, ...change].some((rule) => allows(rule, name))
  const columns = new Map([...table.columns].filter(([name]) => isKnown(name)))
  return { ...table, columns, key: table.key.every(({ name }) => isKnown(name)) ? table.key : [] }
}

const allows = ({ attributes, set = {} }: WriteRule, name: string): boolean =>
  (attributes?.has(name) ?? true) || Object.hasOwn(set, name)

/** The rules by which these columns may be written. */
function applying({ narrowing }: Dataset, level: Level, names: Iterable<string>): readonly WriteRule[] {
  const sent = [...names]
  return (narrowing?.writes[level] ?? []).filter((rule) => rule.set && sent.every((name) => allows(rule, name)))
}

/** The row with what the server writes in place of what was sent. */
export function withSetValues(input: InputRow, dataset: Dataset, level: Level): InputRow {
  if (!dataset.narrowing) return input
  const [rule] = applying(
    dataset,
    level,
    input.cells.map(({ name }) => name),
  )
  if (!rule) throw refusedByRule(level)
  const set = Object.entries(rule.set ?? {}).map(([name, value]) => ({ name, value, path: `${input.path}/${name}` }))
  const sent = input.cells.filter(({ name }) => !set.some((cell) => cell.name === name))
  return { ...input, cells: [...sent, ...set] }
}

export function bodyWithSetValues(body: RowsBody, { dataset }: Ruled): RowsBody {
  if (!dataset.narrowing) return body
  return {
    ...body,
    async *rows() {
      for await (const row of body.rows()) yield withSetValues(row, dataset, 'append')
    },
  }
}

/** SQL: whether a row with these columns is one that the caller may have written; undefined where no rules bind. */
export function mayBecome({ dataset }: Ruled, level: Level, names: Iterable<string>): Sql | undefined {
  if (!dataset.narrowing) return undefined
  return rowsOf(applying(dataset, level, names))
}

const rowsOf = (rules: readonly WriteRule[]): Sql => filterSql(anyOf(rules.map(({ rows }) => rows)), column)

/** Locks the rows of a condition, and refuses what the caller may not write of them. */
export async function demandAllowed(
  tx: EditTransaction,
  { dataset, table }: Ruled,
  {
    level,
    condition,
    names = [],
  }: { readonly level: Level; readonly condition: Sql; readonly names?: Iterable<string> },
  signal: AbortSignal,
): Promise<void> {
  if (!dataset.narrowing) return
  const allowed = sql`coalesce(${rowsOf(applying(dataset, level, names))}, FALSE) AS allowed`
  const rows = await tx.cancellable<{ allowed: boolean }>(
    sql`SELECT ${allowed} FROM ${table.from} AS q WHERE ${condition} FOR UPDATE`,
    signal,
  )
  if (rows.some((row) => !row.allowed)) throw refusedByRule(level)
}

/** The condition without the rows that the caller may not see. */
export const seen = ({ dataset: { narrowing } }: Ruled, condition: Sql): Sql =>
  narrowing ? and([condition, filterSql(narrowing.rows, column)]) : condition
