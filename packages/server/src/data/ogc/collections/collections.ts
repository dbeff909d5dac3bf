// Collections: the datasets that the key may both read and execute, by their id or `metadata.slug`.
import { alsoAt, type Scope } from '../../../api/access/acl.ts'
import { isUuid } from '../../../api/access/credentials.ts'
import type { Store } from '../../../api/resource/resource.ts'
import { getEntity, listEntities } from '../../../api/resource/store.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { AttributeDto } from '../../datasets/attribute-dto.ts'
import { dataset as datasetResource } from '../../datasets/dataset.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import { checkInputs } from '../../datasets/sources.ts'
import type { OgcServices } from '../ogc-services.ts'

/** A dataset as a collection. */
export type Collection = {
  /** As links have it: the slug, if the dataset has one that no other has. */
  readonly id: string
  readonly dataset: CollectionDataset
}

export type CollectionDataset = {
  readonly id: string
  readonly applicationId: string
  readonly name: string
  readonly description: string
  readonly type: string
  readonly source: string
  readonly attributes: readonly AttributeDto[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Short, because it stands in addresses; without a point, which some clients cut off. */
const slugForm = /^[a-z0-9][a-z0-9_-]{0,62}$/i

const slugOf = ({ metadata: { slug } }: Pick<CollectionDataset, 'metadata'>): string | undefined =>
  typeof slug === 'string' && slugForm.test(slug) && !isUuid(slug) ? slug : undefined

/** The ACL is asked for an id; whether a slug is within reach is decided with its dataset. */
export const collectionAccess = {
  class: 'datasets',
  level: 'execute',
  id: ({ params: { id = '' } }: { params: Readonly<Record<string, string>> }) =>
    isUuid(id) ? id.toLowerCase() : undefined,
} as const

type Reach = { readonly services: OgcServices; readonly scope: Scope }

const storeOf = (services: OgcServices): Store => ({ resource: datasetResource as Store['resource'], services })

/** The collection of an id or slug, or 404. */
export async function findCollection(context: Reach, idOrSlug: string): Promise<Collection> {
  const { services } = context
  const { reach, id } = await reachDataset(context, idOrSlug)
  const { entity } = await getEntity(storeOf(services), reach, id).catch(noCollection)
  const dataset = entity as CollectionDataset
  if (needsParameters(dataset)) throw absent()
  const slug = slugOf(dataset)
  const isUnique = slug !== undefined && (await idsWithSlug({ services, scope: reach }, slug)).length === 1
  return { id: isUnique ? slug : dataset.id, dataset }
}

/** The dataset of an id or slug that the caller may both read and execute, with the scope to load it by; or 404. */
export async function reachDataset(
  { services, scope }: Reach,
  idOrSlug: string,
): Promise<{ reach: Scope; id: string }> {
  const reach = alsoAt(scope, 'datasets', 'read')
  const id = await datasetId({ services, scope: reach }, idOrSlug)
  // Caches tell keys apart, but not the levels of one.
  if (reach.ids !== 'any' && !reach.ids.includes(id)) throw absent()
  return { reach, id }
}

/** What queries on the rows of a collection need; its record is cached for a second. */
export async function openCollection(context: Reach, idOrSlug: string): Promise<CachedDataset> {
  const { reach, id } = await reachDataset(context, idOrSlug)
  return context.services.datasetCache.get(reach, id).catch(noCollection)
}

/** The id of the dataset that an id or slug stands for; of a slug only within the scope. */
export async function datasetId(reach: Reach, idOrSlug: string): Promise<string> {
  if (isUuid(idOrSlug)) return idOrSlug.toLowerCase()
  const ids = slugForm.test(idOrSlug) ? await idsWithSlug(reach, idOrSlug) : []
  if (ids.length > 1) throw new ApiError('not_found', 'Several datasets have this slug. Use the id of one of them.')
  if (ids[0] === undefined) throw absent()
  return ids[0]
}

async function idsWithSlug(reach: Reach, slug: string): Promise<string[]> {
  const entities = await entitiesWhere(reach, sql`metadata ->> 'slug' = ${slug}`, { limit: 2, offset: 0 }, ['id'])
  return entities.map(({ id }) => String(id))
}

type Range = { readonly limit: number; readonly offset: number }

async function entitiesWhere({ services, scope }: Reach, where: Sql, range: Range, fields?: readonly string[]) {
  const query = { fields, where, order: raw('name, id'), ...range }
  return (await listEntities(storeOf(services), scope, query)).page.map(({ entity }) => entity)
}

/** The collections within reach by name, and whether more follow. */
export async function listCollections(
  { services, scope }: Reach,
  { limit, offset }: Range,
): Promise<{ collections: Collection[]; hasMore: boolean }> {
  const reach = { services, scope: alsoAt(scope, 'datasets', 'read') }
  const page = (await entitiesWhere(reach, raw('TRUE'), { limit: limit + 1, offset })) as CollectionDataset[]
  const datasets = page.slice(0, limit).filter((dataset) => !needsParameters(dataset))
  const repeated = await repeatedSlugs(reach, datasets)
  const collections = datasets.map((dataset) => {
    const slug = slugOf(dataset)
    return { id: slug === undefined || repeated.has(slug) ? dataset.id : slug, dataset }
  })
  return { collections, hasMore: page.length > limit }
}

/** The slugs of these datasets that another dataset within reach has too. */
async function repeatedSlugs(reach: Reach, datasets: readonly CollectionDataset[]): Promise<Set<string>> {
  const slugs = datasets.map(slugOf).filter((slug) => slug !== undefined)
  if (slugs.length === 0) return new Set()
  const range = { limit: 10_000, offset: 0 }
  const all = await entitiesWhere(reach, sql`metadata ->> 'slug' = ANY (${slugs}::text[])`, range, ['id', 'metadata'])
  const counts = Map.groupBy(all as CollectionDataset[], slugOf)
  return new Set(slugs.filter((slug) => (counts.get(slug)?.length ?? 0) > 1))
}

/** Clients of collections know no parameters, so a dataset is none while one of its parameters has no default. */
function needsParameters(dataset: CollectionDataset): boolean {
  try {
    checkInputs(dataset, {})
    return false
  } catch (error) {
    if (error instanceof ApiError) return true
    throw error
  }
}

/** The geometry of the features: the first that the dataset has. */
export const geometryOf = ({ attributes }: Pick<CollectionDataset, 'attributes'>): AttributeDto | undefined =>
  attributes.find(({ type }) => type === 'geometry')

/** The attribute that identifies a feature: the primary key, if it is one column that can be written in an address. */
export function keyOf({ attributes }: Pick<CollectionDataset, 'attributes'>): AttributeDto | undefined {
  const keys = attributes.filter(({ primaryKey }) => primaryKey)
  return keys.length === 1 ? keys[0] : undefined
}

const absent = (): ApiError => new ApiError('not_found', 'There is no collection with this id.')

/** The same answer as for a dataset that never was. */
export function noCollection(error: unknown): never {
  throw error instanceof ApiError && error.code === 'not_found' ? absent() : error
}
