/**
 * What a transaction writes to a table in another database, for the change log: the statements return keys and boxes themselves, because no
 * trigger can be set there. Rows are locked before they are changed, so that the place where they were is told as well.
 */

import type { Row, Transaction } from '../../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { ExternalChange } from '../../changes/external-log.ts'
import type { EditTable } from './edit-table.ts'
import { type RowSummary, readSummary, summaryColumns, summaryOf, summarySql } from './row-summary.ts'

/** A statement that changes or deletes the rows of a condition. */
export type RowStatement = {
  readonly operation: 'update' | 'delete'
  /** Of the table with the alias `q`. */
  readonly condition: Sql
  /** The statement with this list of RETURNING. */
  statement(returning: Sql): Sql
}

export type InsertStatement = {
  readonly returning: Sql
  /** The condition of rows that are changed instead of inserted; undefined where none is. */
  readonly existing: Sql | undefined
  statement(returning: Sql): Sql
}

export type WrittenRows = {
  readonly changes: readonly ExternalChange[]
  write(tx: Transaction, write: RowStatement, returning: Sql, signal: AbortSignal): Promise<Row[]>
  count(tx: Transaction, write: RowStatement, signal: AbortSignal): Promise<number>
  insert(tx: Transaction, inserting: InsertStatement, signal: AbortSignal): Promise<Row[]>
}

export function createWrittenRows(table: EditTable): WrittenRows {
  const changes: ExternalChange[] = []
  const summaryList = summaryColumns(table)
  const hasGeometry = table.columns.values().some(({ geometry }) => geometry !== undefined)

  function add(operation: ExternalChange['operation'], now: RowSummary, before?: RowSummary): void {
    if (now.count > 0) changes.push(table.isSecured ? { operation } : changeOf(operation, now, before))
  }

  /** Locks the rows of a condition. */
  async function look(tx: Transaction, condition: Sql, signal: AbortSignal): Promise<RowSummary> {
    const locked = sql`SELECT ${summaryList} FROM ${table.from} AS q WHERE ${condition} FOR UPDATE`
    const [summary] = await tx.cancellable(summarySql(locked), signal)
    return readSummary(summary)
  }

  /** The rows as they were, of an update; of a deletion they are what is returned. */
  const before = async (tx: Transaction, { operation, condition }: RowStatement, signal: AbortSignal) =>
    operation === 'update' && hasGeometry ? look(tx, condition, signal) : undefined

  return {
    changes,
    async write(tx, write, returning, signal) {
      const old = await before(tx, write, signal)
      const rows = await tx.cancellable(write.statement(sql`${returning}, ${summaryList}`), signal)
      add(write.operation, summaryOf(rows), old)
      return rows
    },
    async count(tx, write, signal) {
      const old = await before(tx, write, signal)
      const [row] = await tx.cancellable(summarySql(write.statement(summaryList)), signal)
      const now = readSummary(row)
      add(write.operation, now, old)
      return now.count
    },
    async insert(tx, { statement, returning, existing }, signal) {
      const old = existing && (await look(tx, existing, signal))
      const rows = await tx.cancellable(
        statement(sql`${returning}, ${summaryList}, ${isReplaced(table)} AS told_replaced`),
        signal,
      )
      const oldKeys = new Set(old?.keys)
      const isKnown = ({ told_key }: Row): boolean => oldKeys.has(String(told_key))
      add(
        'insert',
        insertedOf(
          rows.filter((row) => !isKnown(row)),
          existing !== undefined,
        ),
      )
      add('update', summaryOf(rows.filter(isKnown)), old)
      return rows
    },
  }
}

/** SQL: whether the row that is returned may have replaced another. Partitioned tables do not return xmax. */
const isReplaced = ({ isPartitioned }: EditTable): Sql => (isPartitioned ? raw('true') : raw(`q.xmax::text <> '0'`))

/** A row that somebody else inserted in the same moment was changed by us: where it was is not known. */
function insertedOf(rows: readonly Row[], mayReplace: boolean): RowSummary {
  const summary = summaryOf(rows)
  return mayReplace && rows.some(({ told_replaced }) => told_replaced) ? { ...summary, boxes: undefined } : summary
}

/** As many as the trigger logs of one statement. */
const maxKeyBytes = 65_536

/** If other rows were changed than were looked at before, where they were is not known. */
function changeOf(operation: ExternalChange['operation'], now: RowSummary, before?: RowSummary): ExternalChange {
  const keys = now.keys && `[${now.keys.join(',')}]`
  const isSure = !before || before.count === now.count
  return {
    operation,
    rowCount: now.count,
    keys: keys && Buffer.byteLength(keys) <= maxKeyBytes ? keys : undefined,
    boxes: isSure ? distinct(now.boxes, before ? before.boxes : []) : undefined,
  }
}

function distinct(boxes: RowSummary['boxes'], others: RowSummary['boxes']): RowSummary['boxes'] {
  return boxes && others && [...new Map([...boxes, ...others].map((box) => [box.join(), box])).values()]
}
