// Answers one feature, by the primary key of its row.

import { refuseUnknown } from '../../../api/http/input/query-string.ts'
import { linkHeader } from '../../../api/http/link-header.ts'
import type { Answer } from '../../../api/http/operation.ts'
import { isUnchanged } from '../../../api/resource/revision.ts'
import { ApiError, FaultCollector, isNotFound } from '../../../kernel/errors.ts'
import type { GeometryForm } from '../../../query/execution/dialect.ts'
import { applyOperator } from '../../../query/filter/operator.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import { isUnreadValue } from '../../databases/postgres/unread-value.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import { timeoutOf } from '../../datasets/queries/query-parameters.ts'
import { readRow } from '../../editing/rows/read-row.ts'
import { type AttributeColumn, taggedColumns } from '../../editing/rows/row-shape.ts'
import { rowTagger } from '../../editing/rows/row-tag.ts'
import { varyingHeaders } from '../answers.ts'
import { collectionPath } from '../collections/collection-document.ts'
import { keyOf } from '../collections/collections.ts'
import { featurePage } from '../html/html-items.ts'
import { addressOf, type Link, mediaTypes, selfLinks } from '../links.ts'
import type { Form } from '../negotiate.ts'
import { type CollectionContext, rootFor } from '../ogc-services.ts'
import { type FeatureDocument, featureWriter } from './feature-format.ts'
import { collectionLink, requestParameters } from './items-links.ts'
import { crsOf, featureColumns, type ItemsParameters, itemSchema } from './items-query.ts'

export type ItemRequest = {
  /** Of the collection, as the request wrote it. */
  readonly id: string
  readonly featureId: string
  readonly cached: CachedDataset
  readonly parameters: Pick<ItemsParameters, 'crs' | 'properties' | 'skipGeometry'>
  readonly form: Form
}

export async function answerItem(context: CollectionContext, request: ItemRequest): Promise<Answer> {
  const feature = await readFeature(context, request)
  const { etag } = feature.headers
  if (request.form === 'json' && etag && isUnchanged(context.request, etag.slice(1, -1)))
    return { status: 304, headers: { ...varyingHeaders, etag } }
  if (request.form === 'html') return featurePage({ ...request, root: rootFor(context) }, request.featureId, feature)
  const { text, links, headers } = feature
  const body = Buffer.from(`${text.slice(0, -1)},"links":${JSON.stringify(links)}}\n`)
  return { headers: { ...varyingHeaders, 'content-type': mediaTypes.geojson, ...headers }, body }
}

async function readFeature(context: CollectionContext, request: ItemRequest): Promise<FeatureDocument> {
  const { cached, parameters } = request
  const { services, tree } = context
  const faults = new FaultCollector()
  faults.attempt(() => refuseUnknown(tree, itemSchema, cached.parameters))
  const columns = faults.finish(faults.attempt(() => featureColumns(cached, parameters)))
  const crs = await crsOf(parameters.crs, 'query/crs', services.readCrs)
  const shape = { geometry: 'geojson', srid: crs.srid } as const
  const { cells, etag } = await readCells(context, request, columns, shape)
  const { properties } = parameters
  const write = featureWriter(columns, { idName: keyOf(cached.dataset)?.name, properties, swapsAxes: crs.swapsAxes })
  const links = linksOf(context, request)
  const headers = { 'content-crs': `<${crs.uri}>`, ...linkHeader(links), ...(etag && { etag }) }
  return { text: write(cells), links, headers }
}

type ReadCells = { readonly cells: readonly Cell[]; readonly etag?: string }

/** With an ETag from the same statement where the row could be written, by this server or with this setting. */
async function readCells(
  context: CollectionContext,
  { cached, featureId }: ItemRequest,
  columns: AttributeColumn[],
  shape: GeometryForm,
): Promise<ReadCells> {
  const { services, signal, tree } = context
  const { dataset } = cached
  const plan = planOf(cached, featureId, columns)
  const source = await services.sources.open(dataset, tree)
  const { inSql } = source
  const mayBeWritten = inSql && (!inSql.connection.isExternal || dataset.metadata.editable === true)
  if (dataset.type === 'table' && inSql && mayBeWritten) {
    const tagged = taggedColumns(columns, shape, rowTagger(services, dataset))
    return tagged.read(await readRow(context, { dataset, inSql, columns: tagged.columns }).catch(noFeature))
  }
  const giveBack = await services.slots.take(dataset.applicationId, signal)
  const options = { timeoutMs: timeoutOf(undefined), signal }
  const answered = await source.rows(plan, shape, options).catch(noFeature).finally(giveBack)
  const [cells] = (await Array.fromAsync(answered.batches)).flat() as Cell[][]
  if (!cells) throw absentFeature()
  return { cells }
}

/** An id that cannot be one of the key's type is one that no feature has. */
function planOf({ dataset, attributes }: CachedDataset, featureId: string, columns: Plan['columns']): Plan {
  const key = attributes.get(keyOf(dataset)?.name ?? '')
  if (!key)
    throw new ApiError('not_found', 'The features of this collection have no ids: its dataset has no primary key.')
  const rest = { group: undefined, distinct: [], sample: undefined, limit: 1, offset: 0, order: [] }
  try {
    const where = applyOperator('$eq', { attribute: key, value: featureId, path: 'params/featureId' })
    return { ...rest, columns, where }
  } catch (error) {
    throw error instanceof ApiError ? absentFeature() : error
  }
}

const absentFeature = (): ApiError => new ApiError('not_found', 'There is no feature with this id.')

/** The same answer for every method. */
export function noFeature(error: unknown): never {
  throw isNotFound(error) || isUnreadValue(error) ? absentFeature() : error
}

function linksOf(context: CollectionContext, { id, featureId, form }: ItemRequest): Link[] {
  const root = rootFor(context)
  const path = `${collectionPath(id)}/items/${encodeURIComponent(featureId)}`
  const parameters = requestParameters(context.request.raw.url ?? '')
  return [
    ...selfLinks((f) => addressOf(root, path, { ...parameters, f }), form, mediaTypes.geojson),
    collectionLink(root, id),
  ]
}
