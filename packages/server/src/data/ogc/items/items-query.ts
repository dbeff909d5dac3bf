// The parameters of items, read into a query plan.
import Type, { type Static } from 'typebox'
import { keyParameter } from '../../../api/access/credentials.ts'
import { maxAddressText, nameList } from '../../../api/http/input/bounded-schemas.ts'
import { type QueryTree, refuseUnknown } from '../../../api/http/input/query-string.ts'
import { FaultCollector, invalid, refuseRepeated } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import { allOf, type Filter } from '../../../query/filter/filter-tree.ts'
import { applyOperator } from '../../../query/filter/operator.ts'
import { periodFilter, readPeriod } from '../../../query/filter/time-period.ts'
import { type Plan, type PlanColumn, parsePlan, type QueryPaths } from '../../../query/plan/plan.ts'
import type { Attribute, Attributes } from '../../../query/values/attribute.ts'
import { isScalarType } from '../../../query/values/value.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import { timeOf } from '../../datasets/time-setting.ts'
import { geometryOf, keyOf } from '../collections/collections.ts'
import { type Crs, crs84, type DefinedCrs } from '../collections/crs.ts'
import { isQueryable } from '../collections/property-schemas.ts'
import { formParameter } from '../negotiate.ts'
import type { OgcServices } from '../ogc-services.ts'
import { type BoxFilter, boxFilter, insideOrUnplaced } from './bbox.ts'
import { filterLanguages, readFilter } from './cql-filter.ts'

export const limits = { default: 10, maximum: 10_000, offset: 100_000 }

const crsParameter = Type.Optional(
  Type.String({ maxLength: 200, description: 'The reference system of the geometries' }),
)
const propertiesParameter = Type.Optional(nameList('The properties to return; all of them by default'))
const skipGeometryParameter = Type.Optional(Type.Boolean({ description: 'Leave out the geometries' }))

export const itemSchema = Type.Object({
  f: formParameter,
  crs: crsParameter,
  properties: propertiesParameter,
  skipGeometry: skipGeometryParameter,
})

export const itemsSchema = Type.Object({
  f: formParameter,
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'The size of the page' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: maxAddressText,
      description: 'Continues behind the previous page, as its next link says',
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.offset, description: 'Skips so many features' })),
  bbox: Type.Optional(Type.String({ maxLength: 500, description: 'Features that intersect this box' })),
  'bbox-crs': Type.Optional(Type.String({ maxLength: 200, description: 'The reference system of bbox' })),
  filter: Type.Optional(
    Type.String({ maxLength: maxAddressText, description: 'Features for which this CQL2 expression is true' }),
  ),
  'filter-lang': Type.Optional(Type.Enum([...filterLanguages], { description: 'The language of filter' })),
  'filter-crs': Type.Optional(Type.String({ maxLength: 200, description: 'The reference system of filter' })),
  datetime: Type.Optional(Type.String({ maxLength: 100, description: 'Features whose time intersects this' })),
  crs: crsParameter,
  properties: propertiesParameter,
  skipGeometry: skipGeometryParameter,
  sortby: Type.Optional(nameList('The properties to sort by; - in front: downwards')),
  resultType: Type.Optional(Type.Enum(['results', 'hits'], { description: 'hits: only how many there are' })),
})

export type ItemsParameters = Static<typeof itemsSchema>

/** A request for features. */
export type ItemsQuery = {
  readonly plan: Plan
  /** The reference system of the answer's geometries. */
  readonly crs: Crs
  /** With a box: the same filter where every feature has a geometry. It finds them faster. */
  readonly placed?: { readonly geometry: Attribute; readonly where: Filter } | undefined
}

const paths: QueryPaths = {
  where: 'query/filter',
  sample: 'query',
  of: (list) => `query/${list === 'order' ? 'sortby' : 'properties'}`,
}

/** Reads the parameters of items. What is not understood is a 400. */
export async function readItemsQuery(
  { dataset, attributes, parameters: own }: CachedDataset,
  parameters: ItemsParameters,
  tree: QueryTree,
  services: Pick<OgcServices, 'db' | 'readCrs'>,
): Promise<ItemsQuery> {
  const { readCrs } = services
  const crs = await crsOf(parameters.crs, 'query/crs', readCrs)
  const filterCrs = parameters['filter-crs'] && (await readCrs(parameters['filter-crs'], 'query/filter-crs'))
  const faults = new FaultCollector()
  const comparable = new Map([...attributes].filter(([, { type }]) => isScalarType(type)))
  faults.attempt(() => refuseUnknown(tree, itemsSchema, new Set([...comparable.keys(), ...own])))
  const equalities = faults.attempt(() => propertyFilters(tree, comparable, own))
  const time = faults.attempt(() => timeFilter(parameters.datetime, dataset, attributes))
  const filter = faults.attempt(() => cqlFilter(parameters, attributes, filterCrs || undefined))
  const query = { order: sortTerms(parameters.sortby), limit: pageSize(parameters.limit) }
  const plan = faults.attempt(() => parsePlan({ ...query, offset: parameters.offset ?? 0 }, attributes, paths))
  const columns = faults.attempt(() => featureColumns({ dataset, attributes }, parameters))
  faults.finish()
  const box = await bboxFilter({ dataset, attributes }, parameters, services)
  const others = [...(equalities ?? []), time, filter].filter((part) => part !== undefined)
  const where = allOf(box ? [...others, insideOrUnplaced(box)] : others)
  const placed = box && { geometry: box.geometry, where: allOf([...others, box.inside]) }
  return { plan: { ...(plan as Plan), columns: columns ?? [], where }, crs, placed }
}

async function bboxFilter(
  { dataset, attributes }: Described,
  parameters: ItemsParameters,
  { db, readCrs }: Pick<OgcServices, 'db' | 'readCrs'>,
): Promise<BoxFilter | undefined> {
  const crs = await crsOf(parameters['bbox-crs'], 'query/bbox-crs', readCrs)
  const geometry = attributes.get(geometryOf(dataset)?.name ?? '')
  return parameters.bbox === undefined ? undefined : boxFilter(parameters.bbox, crs, geometry, db)
}

function cqlFilter(
  parameters: ItemsParameters,
  attributes: Attributes,
  crs: DefinedCrs | undefined,
): Filter | undefined {
  const { filter, 'filter-lang': language } = parameters
  const queryable = new Map([...attributes].filter(([, { type }]) => isQueryable(type)))
  return filter === undefined ? undefined : readFilter(filter, language, queryable, crs)
}

export const crsOf = async (text: string | undefined, path: string, readCrs: OgcServices['readCrs']): Promise<Crs> =>
  text === undefined ? crs84 : readCrs(text, path)

const pageSize = (limit: number | undefined): number => Math.min(limit ?? limits.default, limits.maximum)

/** `+name` arrives as ` name`, because a plus stands for a blank in a query. */
const sortTerms = (sortby: readonly string[] | undefined): string[] =>
  (sortby ?? []).map((term) => term.trim().replace(/^\+/, ''))

/** The features whose time meets the period. The standard has those without a time meet every period. */
function timeFilter(
  text: string | undefined,
  dataset: CachedDataset['dataset'],
  attributes: Attributes,
): Filter | undefined {
  if (text === undefined) return undefined
  const path = 'query/datetime'
  const period = readPeriod(text, path)
  const time = timeOf(dataset)
  const [start, end] = [time && attributes.get(time.start), time && attributes.get(time.end)]
  return start && end ? periodFilter(period, { start, end, keepsUntimed: true }, path) : undefined
}

/** `name=value` for each attribute that can be compared. The parameters of the standard come first. */
function propertyFilters(tree: QueryTree, queryable: Attributes, own: ReadonlySet<string>): Filter[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const attribute = queryable.get(name)
    if (!attribute || name === keyParameter || own.has(name) || Object.hasOwn(itemsSchema.properties, name)) return []
    const path = `query/${name.slice(0, 100)}`
    if (typeof value !== 'string') throw invalid(path, 'must be given once')
    return [applyOperator('$eq', { attribute, value, path })]
  })
}

type Described = Pick<CachedDataset, 'dataset' | 'attributes'>

/** The columns of features: the key for their ids, the geometry, and the properties. */
export function featureColumns(
  { dataset, attributes }: Described,
  { properties, skipGeometry }: Pick<ItemsParameters, 'properties' | 'skipGeometry'>,
): (PlanColumn & { readonly attribute: Attribute })[] {
  const geometry = geometryOf(dataset)?.name
  refuseRepeated(properties ?? [], 'query/properties')
  const wanted = properties?.map((name) => propertyNamed(attributes, name)) ?? [...attributes.values()]
  const leading = [keyOf(dataset)?.name, skipGeometry ? undefined : geometry]
  const all = [...leading.flatMap((name) => attributes.get(name ?? '') ?? []), ...wanted]
  const shown = skipGeometry ? all.filter(({ type }) => type !== 'geometry') : all
  return [...new Map(shown.map((attribute) => [attribute.name, columnOf(attribute)])).values()]
}

const columnOf = (attribute: Attribute) => ({ name: attribute.name, attribute, type: attribute.type })

function propertyNamed(attributes: Attributes, name: string): Attribute {
  const attribute = attributes.get(name)
  if (!attribute) throw invalid('query/properties', unknownName('a property', name, attributes.keys()))
  return attribute
}
