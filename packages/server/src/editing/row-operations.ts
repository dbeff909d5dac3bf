// One row by its key: read, change, replace, delete.
import Type from 'typebox'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { timeoutOf } from '../datasets/query-parameters.ts'
import type { Row } from '../db/db.ts'
import { raw, sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import { chooseFormat } from '../formats/answer-formats.ts'
import { type Answer, queryWeight } from '../http/operation.ts'
import { isUnchanged } from '../resource/revision.ts'
import type { EditColumn } from './edit-table.ts'
import {
  beginEdit,
  demandTag,
  type Edit,
  type EditContext,
  expectedTags,
  mayQuery,
  operation,
  writeInTransaction,
} from './editing.ts'
import { withDigits } from './exact-number.ts'
import { type GivenRow, maxBodyBytes, readOneRow } from './given-rows.ts'
import { repairParameter } from './insert-operation.ts'
import { checkValidity, finish, type PreparedRow, prepareCells, prepareNewRow, startPreparing } from './prepare-rows.ts'
import { rowAnswer } from './row-answer.ts'
import { absentRow, rowCondition, rowShape } from './row-shape.ts'
import { isDuplicateKey } from './write-errors.ts'
import { aheadOfSequence, deleteSql, insertRows, updateSql } from './write-rows.ts'

const rowSchema = Type.Object({}, { additionalProperties: true, examples: [{ name: 'Oslo' }] })
const path = `${datasetResource.path}/{id}/rows/{rowKey}` as const
const byKey = 'The key is the value of the primary key; of several columns, the values with commas between them.'

const written = {
  path,
  access: { class: 'datasets', level: 'write' },
  query: Type.Object({ repair: repairParameter }),
  body: rowSchema,
  readsText: ['application/geo+json'],
  bodyLimit: maxBodyBytes,
  success: { status: 200, description: 'The row as it is now', schema: rowSchema, headers: ['ETag'] },
  failures: [409, 412, 413, 429, 502, 504],
} as const

const read = operation({
  id: 'datasets.row',
  method: 'GET',
  path,
  summary: 'Get one row',
  description: `${byKey} Accept: application/geo+json asks for a feature.`,
  weight: queryWeight,
  access: { class: 'datasets', level: 'execute' },
  success: { status: 200, description: 'The row', schema: rowSchema, headers: ['ETag'] },
  failures: [409, 429, 502, 504],
  async handle(context, { params: { id } }) {
    const { request, services, scope, signal } = context
    const { dataset } = await services.datasetCache.get(scope, id)
    const { inSql } = dataset.type === 'table' ? await services.sources.open(dataset, {}) : {}
    if (!inSql) throw new ApiError('conflict', 'Only the rows of a table in PostgreSQL have addresses. Use the query.')
    const { condition } = rowCondition(dataset, request.raw.url ?? '')
    const isFeature = chooseFormat(undefined, request.headers.accept) === 'geojson'
    const shape = rowShape(dataset, isFeature)
    const statement = sql`SELECT ${shape.columns} FROM ${inSql.relation.from} AS q WHERE ${condition}`
    const release = await services.slots.take(dataset.applicationId, signal)
    const options = { timeoutMs: timeoutOf(undefined), signal, atMost: 1, isOurs: true, reads: 'row' } as const
    const { columns, batches } = await inSql.connection.select(statement, options).finally(release)
    const [cells] = (await Array.fromAsync(batches)).flat()
    if (!cells) throw absentRow()
    const row = shape.read(Object.fromEntries(columns.map(({ name }, index) => [name, cells[index] ?? null])))
    if (isUnchanged(request, row.etag.slice(1, -1))) return { status: 304, headers: { etag: row.etag } }
    return rowAnswer(row, { isFeature })
  },
})

const patch = operation({
  ...written,
  id: 'datasets.changeRow',
  method: 'PATCH',
  summary: 'Change some columns of one row',
  description: `${byKey} A column that is not given stays as it is; null empties it.`,
  async handle(context, { params: { id }, query: { repair = false } }) {
    const edit = await beginEdit(context.services, context.scope, id)
    const { table, dataset } = edit
    const { condition, parts } = rowCondition(dataset, context.request.raw.url ?? '')
    const given = readOneRow(context.request.body, table)
    const changes = await prepareChanges(context, edit, withoutKey(given, edit, parts), repair)
    const shape = rowShape(dataset, given.isFeature)
    const { rows } = await writeInTransaction(context, edit, async (tx) => {
      await demandTag(tx, table, condition, expectedTags(context.request))
      const statement = updateSql(table, changes, condition, { repair, returning: shape.columns })
      const rows = await tx.cancellable(statement, context.signal)
      if (rows.length === 0) throw absentRow()
      return { rows, count: rows.length, columns: namesOf(changes) }
    })
    return shownTo(context, dataset, rows[0], given.isFeature)
  },
})

const put = operation({
  ...written,
  success: { ...written.success, otherStatus: 201 },
  id: 'datasets.putRow',
  method: 'PUT',
  summary: 'Insert or replace one row',
  description: `${byKey} Columns that are not given go back to their default. With \`If-None-Match: *\` an existing row is kept.`,
  async handle(context, { params: { id }, query: { repair = false } }) {
    const { request, signal } = context
    const edit = await beginEdit(context.services, context.scope, id)
    const { table, dataset } = edit
    const { condition, parts } = rowCondition(dataset, request.raw.url ?? '')
    const given = readOneRow(request.body, table)
    const rest = withoutKey(given, edit, parts)
    const key = table.key.map(({ name }, index) => ({ name, value: parts[index], path: 'params/rowKey' }))
    const preparing = startPreparing()
    const row = prepareNewRow({ ...rest, cells: [...rest.cells, ...key] }, table, { repair }, preparing)
    finish(preparing)
    await checkValidity(await table.connect(), preparing, { timeoutMs: timeoutOf(undefined), signal })
    const values: PreparedRow = { ...row, cells: new Map([...row.cells].filter(([one]) => !table.key.includes(one))) }
    const defaults = [...table.columns.values()].filter((one) => isReset(one) && !row.cells.has(one))
    const { columns: returning } = rowShape(dataset, given.isFeature)
    const isNewOnly = request.headers['if-none-match']?.trim() === '*'
    const expected = expectedTags(request)
    const { rows, isNew } = await writeInTransaction(context, edit, async (tx) => {
      await demandTag(tx, table, condition, expected)
      const hasChanges = values.cells.size + defaults.length > 0
      const update = hasChanges
        ? updateSql(table, values, condition, { repair, returning, defaults })
        : sql`SELECT ${returning} FROM ${table.from} AS q WHERE ${condition} FOR UPDATE`
      const replaced = isNewOnly ? [] : await tx.cancellable(update, signal)
      const columns = namesOf(row)
      if (replaced.length > 0) return { rows: replaced, isNew: false, count: replaced.length, columns }
      const advance = await aheadOfSequence(tx, table, [row])
      const rows = await insertRows(tx, table, [row], { onConflict: undefined, repair, returning }, signal)
      await advance()
      return { rows, isNew: true, count: rows.length, columns }
    }).catch((error) => {
      if (isNewOnly && isDuplicateKey(error))
        throw new ApiError('precondition_failed', 'A row with this key exists, and If-None-Match: * asks for none.')
      throw error
    })
    const answer = shownTo(context, dataset, rows[0], given.isFeature)
    return isNew ? { ...answer, status: 201 } : answer
  },
})

const remove = operation({
  id: 'datasets.deleteRow',
  method: 'DELETE',
  path,
  summary: 'Delete one row',
  description: byKey,
  access: written.access,
  success: { status: 200, description: 'Deleted; no body' },
  failures: [409, 412, 429, 502, 504],
  async handle(context, { params: { id } }) {
    const edit = await beginEdit(context.services, context.scope, id)
    const { condition } = rowCondition(edit.dataset, context.request.raw.url ?? '')
    await writeInTransaction(context, edit, async (tx) => {
      await demandTag(tx, edit.table, condition, expectedTags(context.request))
      const rows = await tx.cancellable(deleteSql(edit.table, condition, raw('1')), context.signal)
      if (rows.length === 0) throw absentRow()
      return { count: rows.length, columns: [] }
    })
    return {}
  },
})

const isReset = ({ identity, isGenerated }: EditColumn): boolean => !identity && !isGenerated

const namesOf = ({ cells }: PreparedRow): string[] => [...cells.keys()].map(({ name }) => name)

/** The given columns but those of the key, which must be the one of the address. */
function withoutKey(given: GivenRow, { table }: Edit, parts: readonly string[]): GivenRow {
  const cells = given.cells.filter(({ name, value, path }) => {
    const place = table.key.findIndex((column) => column.name === name)
    if (place === -1) return true
    const text = String(withDigits(value))
    if (text.toLowerCase() === parts[place]?.toLowerCase()) return false
    throw invalid(path, 'must be the key in the address: a key cannot be changed. Insert a new row and delete this one')
  })
  return { ...given, cells }
}

/** The changes of existing rows, checked. */
export async function prepareChanges(
  { signal }: EditContext,
  { table }: Edit,
  given: GivenRow,
  repair: boolean,
): Promise<PreparedRow> {
  const preparing = startPreparing()
  const row = prepareCells(given, table, { repair }, preparing)
  finish(preparing)
  if (row.cells.size === 0) throw invalid('body', 'must have at least one column to change')
  await checkValidity(await table.connect(), preparing, { timeoutMs: timeoutOf(undefined), signal })
  return row
}

/** Whoever may write but not query gets the ETag only. */
function shownTo(context: EditContext, dataset: Dataset, row: Row | undefined, isFeature: boolean): Answer {
  if (!row) throw absentRow()
  const shown = rowShape(dataset, isFeature).read(row)
  if (mayQuery(context, dataset)) return rowAnswer(shown, { isFeature })
  return { headers: { etag: shown.etag }, json: '{"count":1}' }
}

export const rowOperations = [read, patch, put, remove]
