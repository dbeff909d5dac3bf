// Which methods change a collection, for the caller of a request: OPTIONS says so, and the operations that write hold to it.
import { authorize, scopeOf } from '../../../api/access/acl.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { beginEdit, type Edit } from '../../editing/editing.ts'
import type { CollectionContext } from '../ogc-services.ts'
import { datasetId, keyOf, noCollection, reachDataset } from './collections.ts'

const readMethods = ['GET', 'HEAD', 'OPTIONS'] as const

/** The methods of the two kinds of resources that write them, and the level of the ACL that these need. */
export const writeMethods = { items: ['POST'], item: ['PUT', 'PATCH', 'DELETE'] } as const
export const writeLevels = { items: 'append', item: 'write' } as const

export type EditedResource = keyof typeof writeMethods

/** The value of `Allow`. */
export const allowOf = (resource: EditedResource, isEditable: boolean): string =>
  [...readMethods, ...(isEditable ? writeMethods[resource] : [])].join(', ')

type Reach = Pick<CollectionContext, 'scope' | 'services'>

/** The id of a collection's dataset: 404 as for GET, 401 without the right to write it. */
export const reachEdited = (context: Reach, idOrSlug: string, resource: EditedResource): Promise<string> =>
  resource === 'items' ? findToAppend(context, idOrSlug) : findToWrite(context, idOrSlug)

/** Opens the table of a collection, or refuses: 404 as for GET, 401 without the right, 405 if it can only be read. */
export async function editCollection(
  context: CollectionContext,
  idOrSlug: string,
  resource: EditedResource,
): Promise<Edit> {
  const { scope, services } = context
  const id = await reachEdited(context, idOrSlug, resource)
  try {
    const edit = await beginEdit(services, scope, id).catch(noCollection)
    if (!keyOf(edit.dataset)) throw new ApiError('conflict', withoutIds)
    return edit
  } catch (error) {
    if (!isRefusal(error)) throw error
    const headers = { Allow: allowOf(resource, false) }
    throw new ApiError('method_not_allowed', error.message, { headers, cause: error })
  }
}

/** Found as for GET, so that a slug beyond the right to write is no other answer than an id. */
async function findToWrite({ scope: { caller }, services }: Reach, idOrSlug: string): Promise<string> {
  const queried = authorize(caller, { class: 'datasets', level: 'execute' }, undefined)
  const { id } = await reachDataset({ services, scope: queried }, idOrSlug)
  authorize(caller, { class: 'datasets', level: 'write' }, id)
  return id
}

/** Whoever may add rows to a dataset finds it without a right to read. */
async function findToAppend(context: Reach, idOrSlug: string): Promise<string> {
  const { scope, services } = context
  try {
    return await datasetId({ services, scope }, idOrSlug)
  } catch (error) {
    const queried = scopeOf(scope.caller, 'datasets', 'execute')
    if (!queried || !scopeOf(scope.caller, 'datasets', 'read')) throw error
    const { id } = await reachDataset({ services, scope: queried }, idOrSlug)
    authorize(scope.caller, { class: 'datasets', level: 'append' }, id)
    return id
  }
}

const withoutIds =
  'The features of this collection have no ids, because the primary key of its table is not one column. Use the rows of its dataset.'

/** A table that cannot be written is a conflict, whatever the reason. */
const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'conflict'

/** Whether the caller can write the collection, or one of its features, now; 404 if it is not within reach. */
export async function isEditable(
  context: CollectionContext,
  idOrSlug: string,
  resource: EditedResource,
): Promise<boolean> {
  const { id } = await reachDataset(context, idOrSlug)
  const scope = scopeOf(context.scope.caller, 'datasets', writeLevels[resource])
  if (scope?.ids !== 'any' && !scope?.ids.includes(id)) return false
  try {
    return keyOf((await beginEdit(context.services, scope, id)).dataset) !== undefined
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}
