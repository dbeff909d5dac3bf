// One row by its key: read, change, replace, delete.
import Type from 'typebox'
import { freeObject } from '../../../api/http/input/bounded-schemas.ts'
import { type Answer, queryWeight } from '../../../api/http/operation.ts'
import { isUnchanged } from '../../../api/resource/revision.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { rowBudget } from '../../../kernel/json/json-budget.ts'
import { chooseFormat } from '../../../query/formats/answer-formats.ts'
import { dataset as datasetResource } from '../../datasets/dataset.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { beginEdit, demandDataset, type EditContext, mayQuery, operation } from '../editing.ts'
import { maxBodyBytes, readOneRow } from '../input/input-rows.ts'
import { isMergePatch } from '../input/merge-json.ts'
import { repairParameter } from '../insert-operation.ts'
import { changeRow, deleteRow, replaceRow } from '../writing/row-writes.ts'
import { readRow } from './read-row.ts'
import { rowAnswer } from './row-answer.ts'
import { rowShape, type ShownRow } from './row-shape.ts'

const rowSchema = freeObject('bodyBytes', { examples: [{ name: 'Oslo' }] })
const path = `${datasetResource.path}/{id}/rows/{rowKey}` as const
const byKey = 'The key is the value of the primary key; of several columns, the values with commas between them.'

const written = {
  path,
  access: { class: 'datasets', level: 'write' },
  query: Type.Object({ repair: repairParameter }),
  body: rowSchema,
  beforeBody: demandDataset,
  readsText: ['application/geo+json'],
  budget: rowBudget,
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
    const { request, services, scope } = context
    const { dataset } = await services.datasetCache.get(scope, id)
    const { inSql } = dataset.type === 'table' ? await services.sources.open(dataset, {}) : {}
    if (!inSql) throw new ApiError('conflict', 'Only the rows of a table in PostgreSQL have addresses. Use the query.')
    const isFeature = chooseFormat(undefined, request.headers.accept) === 'geojson'
    const shape = rowShape(services, dataset, isFeature)
    const row = shape.read(await readRow(context, { dataset, inSql, columns: shape.columns }))
    if (isUnchanged(request, row.etag.slice(1, -1))) return { status: 304, headers: { etag: row.etag } }
    return rowAnswer(row, { isFeature })
  },
})

const patch = operation({
  ...written,
  id: 'datasets.changeRow',
  method: 'PATCH',
  summary: 'Change some columns of one row',
  description:
    `${byKey} A column that is not given stays as it is; null empties it. What is given for a JSON column replaces its value; sent as ` +
    'application/merge-patch+json (RFC 7396), an object is merged into it.',
  async handle(context, { params: { id }, query: { repair = false } }) {
    const edit = await beginEdit(context.services, context.scope, id)
    const input = readOneRow(context.request.body, edit.table)
    const row = await changeRow(context, edit, input, { repair, mergesJson: isMergePatch(context.request) })
    return shownTo(context, edit.dataset, row, input.isFeature)
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
    const edit = await beginEdit(context.services, context.scope, id)
    const input = readOneRow(context.request.body, edit.table)
    const { row, isNew } = await replaceRow(context, edit, input, { repair, createsAbsent: true })
    const answer = shownTo(context, edit.dataset, row, input.isFeature)
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
    await deleteRow(context, await beginEdit(context.services, context.scope, id))
    return {}
  },
})

/** Whoever may write but not query learns that it was done, and no ETag, which is made of the row's content. */
function shownTo(context: EditContext, dataset: Dataset, shown: ShownRow, isFeature: boolean): Answer {
  if (mayQuery(context, dataset)) return rowAnswer(shown, { isFeature })
  return { json: '{"count":1}' }
}

export const rowOperations = [read, patch, put, remove]
