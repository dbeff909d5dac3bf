// Adds columns to the table of a dataset, and drops them.
import { transactWithEntry } from '../../api/access/audit-trail.ts'
import { etagOf } from '../../api/resource/revision.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import { getText } from '../../api/resource/store.ts'
import type { Transaction } from '../../kernel/db/db.ts'
import { json, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import { demandRecordWrite } from '../datasets/rules/record-view.ts'
import { changeAttributes } from '../datasets/store-dataset.ts'
import { columnSchema, planColumn } from './column-definition.ts'
import { attributesBut, readColumnFacts } from './column-facts.ts'
import { lockDatasetsOf } from './datasets-of-table.ts'
import { beginEdit, demandDataset, type Edit, type EditContext, operation } from './editing.ts'
import { addColumn, dropColumn, limitLocks } from './make-table.ts'

const add = operation({
  id: 'datasets.addColumn',
  method: 'POST',
  path: `${datasetResource.path}/{id}/columns`,
  summary: 'Add a column to the table of a dataset',
  description: 'Only in the application’s own database.',
  access: { class: 'datasets', level: 'write' },
  beforeBody: demandDataset,
  body: { ...columnSchema, examples: [{ name: 'height', type: 'number' }] },
  success: { status: 201, description: 'The dataset', schema: outputSchema(datasetResource), headers: ['ETag'] },
  failures: [409, 502, 504],
  async handle(context, { params: { id }, body }) {
    const edit = await beginColumns(context, id)
    const column = planColumn(body, 'body')
    if (column.attribute.primaryKey)
      throw new ApiError('conflict', 'A column that is added cannot be part of the primary key.')
    await changeColumns(context, edit, body.name, async (tx) => {
      await addColumn(tx, edit.table.tableName, column)
      const now = (await readColumnFacts(tx, edit.table.tableName)).get(body.name)
      return sql`${attributesBut(body.name)} || ${json([{ ...column.attribute, ...now }])}`
    })
    const { json: text, tag } = await getText(
      { resource: datasetResource, services: context.services },
      context.scope,
      id,
    )
    return { headers: { etag: etagOf(tag) }, json: text }
  },
})

const drop = operation({
  id: 'datasets.dropColumn',
  method: 'DELETE',
  path: `${datasetResource.path}/{id}/columns/{column}`,
  summary: 'Drop a column of the table of a dataset, with its values',
  access: { class: 'datasets', level: 'write' },
  success: { status: 200, description: 'Dropped; no body' },
  failures: [409, 502, 504],
  async handle(context, { params: { id, column } }) {
    const edit = await beginColumns(context, id)
    const { columns, key, tableName } = edit.table
    if (!columns.has(column)) throw new ApiError('not_found', unknownName('a column', column, columns.keys()))
    if (key.some(({ name }) => name === column))
      throw new ApiError(
        'conflict',
        'The column is part of the primary key, which addresses the rows: it cannot be dropped.',
      )
    await changeColumns(context, edit, column, async (tx) => {
      await dropColumn(tx, tableName, column)
      return attributesBut(column)
    })
    return {}
  },
})

export async function beginColumns({ services, scope }: EditContext, id: string): Promise<Edit> {
  const edit = await beginEdit(services, scope, id)
  demandRecordWrite(scope.caller, edit.dataset)
  if (!edit.table.isPlatform)
    throw new ApiError(
      'conflict',
      'Columns are changed in the application’s own database only; of another one, by its own means.',
    )
  return edit
}

/** The table and the records of all its datasets change together. */
export async function changeColumns(
  { services, trail }: EditContext,
  { dataset, table }: Edit,
  column: string,
  change: (tx: Transaction, ids: readonly string[]) => Promise<Sql>,
): Promise<void> {
  const { id, name, applicationId } = dataset
  if (trail) Object.assign(trail, { applicationId, target: { type: 'datasets', id, name }, changed: [column] })
  await transactWithEntry(table.db, trail, async (tx) => {
    await limitLocks(tx)
    const ids = await lockDatasetsOf(tx, applicationId, table.tableName)
    if (!ids.includes(id))
      throw new ApiError('conflict', 'The dataset was changed or deleted meanwhile. Read it again.')
    await changeAttributes(tx, ids, await change(tx, ids))
  })
  services.generations.next(datasetResource)
}

export const columnOperations = [add, drop]
