// Features are created, replaced, changed and deleted (OGC API Features, Part 4), as the rows of their datasets are.
import Type from 'typebox'
import { freeValue, ignoringOthers } from '../../../api/http/input/bounded-schemas.ts'
import type { Operation } from '../../../api/http/operation.ts'
import { rowBudget } from '../../../kernel/json/json-budget.ts'
import type { Edit } from '../../editing/editing.ts'
import { bodyOf, maxBodyBytes } from '../../editing/input/input-rows.ts'
import { insertBody, refuseBeyondAppend, repairParameter } from '../../editing/insert-operation.ts'
import { tagHeader } from '../../editing/rows/row-answer.ts'
import { rowShape } from '../../editing/rows/row-shape.ts'
import { changeRow, deleteRow, replaceRow } from '../../editing/writing/row-writes.ts'
import { collectionPath } from '../collections/collection-document.ts'
import {
  allowOf,
  type EditedResource,
  editCollection,
  isEditable,
  reachEdited,
  writeLevels,
} from '../collections/collection-edit.ts'
import { collectionAccess } from '../collections/collections.ts'
import { mediaTypes } from '../links.ts'
import { type CollectionContext, type OgcServices, operation, rootFor } from '../ogc-services.ts'
import { contentCrs, demandType, type FeatureBody, featurePatch, newFeature, replacingFeature } from './feature-body.ts'
import { noFeature } from './item-answer.ts'

const itemsPath = '/ogc/collections/{id}/items'
const itemPath = '/ogc/collections/{id}/items/{featureId}'

const point = { type: 'Point', coordinates: [10.75, 59.91] }

const featureSchema = Type.Object(
  {
    type: Type.Literal('Feature'),
    geometry: freeValue('bodyBytes', { description: 'A GeoJSON geometry, or null' }),
    properties: freeValue('bodyBytes', { description: 'The properties by name' }),
  },
  { ...ignoringOthers, examples: [{ type: 'Feature', geometry: point, properties: { name: 'Oslo' } }] },
)

const patchSchema = Type.Object(
  { geometry: Type.Optional(freeValue('bodyBytes')), properties: Type.Optional(freeValue('bodyBytes')) },
  { ...ignoringOthers, examples: [{ properties: { name: 'Oslo' } }] },
)

const createFailures = [405, 409, 413, 415, 429, 502, 504]

const demandEdited =
  (resource: EditedResource) =>
  async ({ scope, services }: CollectionContext, { id }: { readonly id: string }): Promise<void> => {
    await services.datasetCache.get(scope, await reachEdited({ scope, services }, id, resource))
  }

const writing = {
  access: { ...collectionAccess, level: writeLevels.item },
  failures: [...createFailures, 412],
} as const

const withFeature = {
  ...writing,
  query: Type.Object({ repair: repairParameter }),
  bodyLimit: maxBodyBytes,
  budget: rowBudget,
  beforeBody: demandEdited('item'),
} as const

const done = { status: 204, description: 'Done; no body', headers: ['ETag'] }

const create = operation({
  ...withFeature,
  id: 'ogc.createItem',
  method: 'POST',
  path: itemsPath,
  summary: 'Create a feature',
  description:
    'Location is the address of the new feature. Its id is the one in the body, if there is one and the table takes it. ' +
    'A key that grants append and not write gets no ETag.',
  access: { ...collectionAccess, level: writeLevels.items },
  beforeBody: demandEdited('items'),
  body: featureSchema,
  readsText: [mediaTypes.geojson],
  failures: createFailures,
  success: { status: 201, description: 'Created; no body', headers: ['Location', 'ETag'] },
  async handle(context, { params: { id }, query: { repair = false } }) {
    const edit = await editCollection(context, id, 'items')
    if (edit.isAppendOnly) refuseBeyondAppend(context.request, undefined)
    const feature = await readFeature(context, edit, mediaTypes.geojson)
    const shape = rowShape(context.services, edit.dataset, true)
    const options = { repair, crs: feature.crs, onConflict: undefined, returning: shape.columns }
    const [row] = await insertBody(context, edit, bodyOf(newFeature(feature)), options)
    const { key, etag } = shape.read(row ?? {})
    // Without the key of the request: clients take what follows /items/ for the id.
    const location = `${rootFor(context).url}${collectionPath(id)}/items/${key}`
    const tag = edit.isAppendOnly ? {} : tagHeader(context, edit.dataset, etag)
    return { status: 201, headers: { location, ...tag } }
  },
})

const replace = operation({
  ...withFeature,
  id: 'ogc.replaceItem',
  method: 'PUT',
  path: itemPath,
  summary: 'Replace a feature',
  description: 'Properties that are not given go back to their default. An id in the body does not count.',
  body: featureSchema,
  readsText: [mediaTypes.geojson],
  success: done,
  async handle(context, { params: { id }, query: { repair = false } }) {
    const edit = await editCollection(context, id, 'item')
    const feature = await readFeature(context, edit, mediaTypes.geojson)
    const options = { repair, crs: feature.crs, createsAbsent: false }
    const { row } = await replaceRow(context, edit, replacingFeature(feature), options).catch(noFeature)
    return { status: 204, headers: tagHeader(context, edit.dataset, row.etag) }
  },
})

const update = operation({
  ...withFeature,
  id: 'ogc.updateItem',
  method: 'PATCH',
  path: itemPath,
  summary: 'Change some properties of a feature, or its geometry',
  description: 'A JSON Merge Patch of the feature: what is not given stays as it is, and null empties.',
  body: patchSchema,
  readsText: [mediaTypes.mergePatch],
  success: done,
  async handle(context, { params: { id }, query: { repair = false } }) {
    const edit = await editCollection(context, id, 'item')
    const feature = await readFeature(context, edit, mediaTypes.mergePatch)
    const options = { repair, crs: feature.crs, mergesJson: true }
    const { etag } = await changeRow(context, edit, featurePatch(feature), options).catch(noFeature)
    return { status: 204, headers: tagHeader(context, edit.dataset, etag) }
  },
})

const remove = operation({
  ...writing,
  id: 'ogc.deleteItem',
  method: 'DELETE',
  path: itemPath,
  summary: 'Delete a feature',
  success: { status: 204, description: 'Done; no body' },
  async handle(context, { params: { id } }) {
    await deleteRow(context, await editCollection(context, id, 'item')).catch(noFeature)
    return { status: 204 }
  },
})

const asking = {
  method: 'OPTIONS',
  access: collectionAccess,
  audit: { none: 'It only says what the key may do.' },
  success: { status: 200, description: 'Allow lists the methods; no body', headers: ['Allow'] },
  failures: [429, 502, 504],
} as const

const itemsOptions = operation({
  ...asking,
  id: 'ogc.itemsOptions',
  path: itemsPath,
  summary: 'The methods that the key may use on the features of a collection',
  async handle(context, { params: { id } }) {
    const canWrite = await isEditable(context, id, 'items')
    return { headers: { allow: allowOf('items', canWrite), ...(canWrite && { 'accept-post': mediaTypes.geojson }) } }
  },
})

const itemOptions = operation({
  ...asking,
  id: 'ogc.itemOptions',
  path: itemPath,
  summary: 'The methods that the key may use on a feature, whether it exists or not',
  async handle(context, { params: { id } }) {
    const canWrite = await isEditable(context, id, 'item')
    return { headers: { allow: allowOf('item', canWrite), ...(canWrite && { 'accept-patch': mediaTypes.mergePatch }) } }
  },
})

async function readFeature(context: CollectionContext, { table }: Edit, type: string): Promise<FeatureBody> {
  demandType(context, type)
  return { body: context.request.body, table, crs: await contentCrs(context) }
}

export const editOperations: readonly Operation<OgcServices>[] = [
  create,
  itemsOptions,
  replace,
  update,
  remove,
  itemOptions,
]
