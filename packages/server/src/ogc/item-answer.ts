// Answers one feature, by the primary key of its row.
import type { CachedDataset } from '../datasets/dataset-cache.ts'
import { timeoutOf } from '../datasets/query-parameters.ts'
import { ApiError, FaultCollector } from '../errors.ts'
import type { Cell } from '../formats/cell.ts'
import type { Answer } from '../http/operation.ts'
import { refuseUnknown } from '../http/query-string.ts'
import { applyOperator } from '../query/operator.ts'
import type { Plan } from '../query/plan.ts'
import { varyingHeaders } from './answers.ts'
import { collectionPath } from './collection-document.ts'
import { keyOf } from './collections.ts'
import { type Feature, featureWriter } from './feature-format.ts'
import { featurePage } from './html-items.ts'
import { collectionLink, givenParameters } from './items-links.ts'
import { crsOf, featureColumns, type ItemsParameters, itemSchema } from './items-query.ts'
import { addressOf, type Link, linkHeader, mediaTypes, ownLinks } from './links.ts'
import type { Form } from './negotiate.ts'
import { type CollectionContext, rootFor } from './ogc-services.ts'

export type AskedItem = {
  /** Of the collection, as the request wrote it. */
  readonly id: string
  readonly featureId: string
  readonly known: CachedDataset
  readonly parameters: Pick<ItemsParameters, 'crs' | 'properties' | 'skipGeometry'>
  readonly form: Form
}

export async function answerItem(context: CollectionContext, asked: AskedItem): Promise<Answer> {
  const feature = await readFeature(context, asked)
  if (asked.form === 'html') return featurePage({ ...asked, root: rootFor(context) }, asked.featureId, feature)
  const { text, links, headers } = feature
  const body = Buffer.from(`${text.slice(0, -1)},"links":${JSON.stringify(links)}}\n`)
  return { headers: { ...varyingHeaders, 'content-type': mediaTypes.geojson, ...headers }, body }
}

async function readFeature(context: CollectionContext, asked: AskedItem): Promise<Feature> {
  const { known, parameters } = asked
  const { services, signal, tree } = context
  const faults = new FaultCollector()
  faults.attempt(() => refuseUnknown(tree, itemSchema, known.parameters))
  const columns = faults.finish(faults.attempt(() => featureColumns(known, parameters)))
  const crs = await crsOf(parameters.crs, 'query/crs', services.readCrs)
  const plan = planOf(known, asked.featureId, columns)
  const source = await services.sources.open(known.dataset, tree)
  const giveBack = await services.slots.take(known.dataset.applicationId, signal)
  const shape = { geometry: 'geojson', srid: crs.srid } as const
  const answered = await source.rows(plan, shape, { timeoutMs: timeoutOf(undefined), signal }).finally(giveBack)
  const [cells] = (await Array.fromAsync(answered.batches)).flat() as Cell[][]
  if (!cells) throw absent()
  const { properties } = parameters
  const write = featureWriter(answered.columns, {
    idName: keyOf(known.dataset)?.name,
    properties,
    swapsAxes: crs.swapsAxes,
  })
  const links = linksOf(context, asked)
  return { text: write(cells), links, headers: { 'content-crs': `<${crs.uri}>`, link: linkHeader(links) } }
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
    throw error instanceof ApiError ? absent() : error
  }
}

const absent = (): ApiError => new ApiError('not_found', 'There is no feature with this id.')

function linksOf(context: CollectionContext, { id, featureId, form }: AskedItem): Link[] {
  const root = rootFor(context)
  const path = `${collectionPath(id)}/items/${encodeURIComponent(featureId)}`
  const given = givenParameters(context.request.raw.url ?? '')
  return [
    ...ownLinks((f) => addressOf(root, path, { ...given, f }), form, mediaTypes.geojson),
    collectionLink(root, id),
  ]
}
