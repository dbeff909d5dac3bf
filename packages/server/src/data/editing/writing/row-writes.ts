// Changes, replaces and deletes one row, whose key ends the address of the request.

import { withDigits } from '../../../api/resource/documents/exact-number.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { timeoutOf } from '../../datasets/queries/query-parameters.ts'
import { demandTag, type Edit, type EditContext, writeInTransaction } from '../editing.ts'
import type { GeometryOptions } from '../input/geometry-column.ts'
import type { InputRow } from '../input/input-row.ts'
import { mergeJson } from '../input/merge-json.ts'
import {
  checkValidity,
  finish,
  type PreparedRow,
  prepareCells,
  prepareNewRow,
  startPreparing,
} from '../input/prepare-rows.ts'
import { aheadOfSequence, largerOf } from '../input/row-numbers.ts'
import { absentRow, noRow, type RowCondition, rowCondition, rowShape, type ShownRow } from '../rows/row-shape.ts'
import type { EditColumn } from './edit-table.ts'
import { writeRows } from './edit-transaction.ts'
import { demandAllowed, mayBecome, refusedByRule, seen, withSetValues } from './ruled-write.ts'
import { isDuplicateKey } from './write-errors.ts'
import { deleteSql, insertRows, updateSql, withAllowed } from './write-rows.ts'

async function conditionOf({ request, signal }: EditContext, edit: Edit): Promise<RowCondition> {
  const { dataset, table } = edit
  const ofKey = rowCondition(dataset, request.raw.url ?? '')
  const found = { ...ofKey, condition: seen(edit, ofKey.condition) }
  if (found.isNative) {
    const statement = sql`SELECT FROM ${table.from} AS q WHERE ${found.condition} LIMIT 0`
    const connection = await table.connect()
    await connection
      .select(statement, { timeoutMs: timeoutOf(undefined), signal, atMost: 1, isTrusted: true })
      .catch(noRow)
  }
  return found
}

type ChangeOptions = GeometryOptions & {
  /** Objects are merged into those of JSON columns (RFC 7396), and do not replace them. */
  readonly mergesJson?: boolean
}

export async function changeRow(
  context: EditContext,
  edit: Edit,
  input: InputRow,
  options: ChangeOptions,
): Promise<ShownRow> {
  const { table, dataset } = edit
  const { condition, parts } = await conditionOf(context, edit)
  const sent = withSetValues(withoutKey(input, edit, parts), dataset, 'change')
  const changes = await prepareChanges(context, edit, sent, options)
  const shape = rowShape(context.services, dataset, input.isFeature)
  const { row } = await writeInTransaction(context, edit, async (tx) => {
    const names = namesOf(changes)
    await demandAllowed(tx, edit, { level: 'change', condition, names }, context.signal)
    await demandTag(tx, context, edit, condition)
    const merged = options.mergesJson ? await mergeJson(tx, table, changes, condition) : changes
    const { repair } = options
    const statement = (returning: Sql): Sql => updateSql(table, merged, condition, { repair, returning })
    const isAllowed = mayBecome(edit, 'change', names)
    const returning = withAllowed(shape.columns, isAllowed)
    const [row] = await writeRows(tx, { operation: 'update', condition, statement }, returning, context.signal)
    if (!row) throw absentRow()
    if (isAllowed && row.allowed !== true) throw refusedByRule('change')
    return { row, count: 1, columns: names }
  })
  return shape.read(row)
}

type ReplaceOptions = GeometryOptions & {
  /** Inserts the row if there is none with its key; otherwise that is 404. */
  readonly createsAbsent: boolean
}

export async function replaceRow(
  context: EditContext,
  edit: Edit,
  input: InputRow,
  { createsAbsent, ...options }: ReplaceOptions,
): Promise<{ row: ShownRow; isNew: boolean }> {
  const { request, signal } = context
  const { repair } = options
  const { table, dataset } = edit
  if (dataset.narrowing)
    throw new ApiError('rule_refused', 'Rows are changed by PATCH and added by POST where rules bind the caller.')
  const { condition, parts } = await conditionOf(context, edit)
  const rest = withoutKey(input, edit, parts)
  // A key that only the database gives stays as it is.
  const key = table.key.flatMap((column, index) =>
    isMadeByDatabase(column) ? [] : [{ name: column.name, value: parts[index], path: 'params/rowKey' }],
  )
  const preparing = startPreparing()
  const row = prepareNewRow({ ...rest, cells: [...rest.cells, ...key] }, table, options, preparing)
  finish(preparing)
  await checkValidity(await table.connect(), preparing, { timeoutMs: timeoutOf(undefined), signal })
  const values: PreparedRow = { ...row, cells: new Map([...row.cells].filter(([one]) => !table.key.includes(one))) }
  const defaults = [...table.columns.values()].filter((one) => isReset(one) && !row.cells.has(one))
  const shape = rowShape(context.services, dataset, input.isFeature)
  const { columns: returning } = shape
  const isNewOnly = request.headers['if-none-match']?.trim() === '*'
  const { rows, isNew } = await writeInTransaction(context, edit, async (tx) => {
    await demandTag(tx, context, edit, condition)
    const hasChanges = values.cells.size + defaults.length > 0 && !isNewOnly
    const statement = (columns: Sql): Sql =>
      updateSql(table, values, condition, { repair, returning: columns, defaults })
    const replaced = hasChanges
      ? await writeRows(tx, { operation: 'update', condition, statement }, returning, signal)
      : await tx.cancellable(sql`SELECT ${returning} FROM ${table.from} AS q WHERE ${condition} FOR UPDATE`, signal)
    const columns = namesOf(row)
    if (isNewOnly && replaced.length > 0) throw keptRow()
    if (replaced.length > 0) return { rows: replaced, isNew: false, count: replaced.length, columns }
    if (!createsAbsent) throw absentRow()
    if (table.key.some(isMadeByDatabase)) throw cannotInsert()
    const advance = await aheadOfSequence(tx, table, largerOf(undefined, row, table))
    const rows = await insertRows(tx, table, [row], { onConflict: undefined, repair, returning }, signal)
    await advance()
    return { rows, isNew: true, count: rows.length, columns }
  }).catch((error) => {
    throw isNewOnly && isDuplicateKey(error) ? keptRow() : error
  })
  const [written] = rows
  if (!written) throw absentRow()
  return { row: shape.read(written), isNew }
}

const isMadeByDatabase = ({ identity, isGenerated }: EditColumn): boolean => identity === 'always' || isGenerated

const cannotInsert = (): ApiError =>
  new ApiError(
    'conflict',
    'There is no row with this key, and only the database gives keys of this table (GENERATED ALWAYS). Insert the row by POST.',
  )

const keptRow = (): ApiError =>
  new ApiError('precondition_failed', 'A row with this key exists, and If-None-Match: * asks for none.')

export async function deleteRow(context: EditContext, edit: Edit): Promise<void> {
  const { condition } = await conditionOf(context, edit)
  await writeInTransaction(context, edit, async (tx) => {
    await demandAllowed(tx, edit, { level: 'delete', condition }, context.signal)
    await demandTag(tx, context, edit, condition)
    const statement = (returning: Sql): Sql => deleteSql(edit.table, condition, returning)
    const rows = await writeRows(tx, { operation: 'delete', condition, statement }, raw('1'), context.signal)
    if (rows.length === 0) throw absentRow()
    return { count: rows.length, columns: [] }
  })
}

const isReset = ({ identity, isGenerated }: EditColumn): boolean => !identity && !isGenerated

const namesOf = ({ cells }: PreparedRow): string[] => [...cells.keys()].map(({ name }) => name)

/** The given columns but those of the key, which must be the one of the address. */
function withoutKey(input: InputRow, { table }: Edit, parts: readonly string[]): InputRow {
  const cells = input.cells.filter(({ name, value, path }) => {
    const place = table.key.findIndex((column) => column.name === name)
    if (place === -1) return true
    const text = String(withDigits(value))
    if (text.toLowerCase() === parts[place]?.toLowerCase()) return false
    throw invalid(path, 'must be the key in the address: a key cannot be changed. Insert a new row and delete this one')
  })
  return { ...input, cells }
}

/** The changes of existing rows, checked. */
export async function prepareChanges(
  { signal }: EditContext,
  { table }: Edit,
  input: InputRow,
  options: GeometryOptions,
): Promise<PreparedRow> {
  const preparing = startPreparing()
  const row = prepareCells(input, table, options, preparing)
  finish(preparing)
  if (row.cells.size === 0) throw invalid('body', 'must have at least one column to change')
  await checkValidity(await table.connect(), preparing, { timeoutMs: timeoutOf(undefined), signal })
  return row
}
