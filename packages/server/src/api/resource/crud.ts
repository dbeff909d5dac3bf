import Type, { type TProperties } from 'typebox'
import { and, type Sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'
import { type Caller, demandAnyId, type Scope } from '../access/acl.ts'
import { isUuid } from '../access/credentials.ts'
import { validator } from '../http/input/validate.ts'
import { type Answer, type Operation, operationUsing } from '../http/operation.ts'
import { auditOfReads } from './audited-write.ts'
import { changedFields, inputFields } from './documents/changed-fields.ts'
import { mergePatch } from './documents/merge-patch.ts'
import { keepingNote, replacement } from './documents/replacement.ts'
import { joinFields, loadJoins, readJoins } from './joins.ts'
import { type ListParameters, listSchema, readFields, readListQuery, selectionSchema } from './list-query.ts'
import { pageLinks } from './page-links.ts'
import { recordGuard, viewFor } from './reach.ts'
import type { Removal } from './removal.ts'
import { type BaseServices, type Entity, isInputField, type Resource, type Verb } from './resource.ts'
import { etagOf, isUnchanged, readIfMatch } from './revision.ts'
import type { StoredEntity } from './rows.ts'
import { changesSchema, createSchema, isChangeable, outputSchema, patchSchema, replaceSchema } from './schemas.ts'
import {
  type Addition,
  changeEntity,
  getEntity,
  getText,
  insertEntity,
  listEntities,
  listTexts,
  removeEntity,
} from './store.ts'

/** Further parameters of the list of a resource. */
export type ListExtras = {
  readonly parameters: TProperties
  readonly where: (query: Readonly<Record<string, unknown>>) => Sql[]
}

export type CrudOptions<S extends BaseServices> = {
  readonly list?: ListExtras
  readonly addition?: Addition<S>
  readonly removal?: Removal<S>
}

/** CRUD operations of a resource, for the verbs in its declaration. */
export function crudOperations<S extends BaseServices>(
  resource: Resource<S>,
  options: CrudOptions<S> = {},
): Operation<S>[] {
  const makers: Record<Verb, () => Operation<S>> = {
    list: () => list(resource, options.list),
    create: () => create(resource, options.addition),
    get: () => get(resource),
    replace: () => replace(resource),
    patch: () => patch(resource),
    delete: () => deleteOperation(resource, options.removal),
  }
  return resource.verbs.map((verb) => makers[verb]())
}

const common = (resource: Resource, verb: Verb, level: 'read' | 'write') => ({
  id: `${resource.name}.${verb}`,
  access: { class: resource.acl, level, master: resource.masterVerbs.includes(verb) },
})

/** What replacing and patching a record have in common. */
const changing = <S extends BaseServices>(resource: Resource<S>) => ({
  beforeBody: recordGuard(resource),
  bodyLimit: resource.bodyLimit,
  budget: resource.budget,
  success: { status: 200, description: 'The record as it is now', schema: outputSchema(resource), headers: ['ETag'] },
  failures: [409, 412, ...(resource.writeFailures ?? [])],
})

function list<S extends BaseServices>(resource: Resource<S>, extras?: ListExtras): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'list', 'read'),
    method: 'GET',
    path: resource.path,
    summary: `List ${resource.name}`,
    audit: auditOfReads(resource),
    query: extras ? Type.Object({ ...listSchema.properties, ...extras.parameters }) : listSchema,
    success: {
      status: 200,
      description: 'A page of records',
      schema: Type.Array(outputSchema(resource)),
      headers: ['X-Total-Count', 'Link'],
    },
    async handle({ request, caller, scope, services }, { query }) {
      const store = { resource, services }
      const joins = readJoins(resource, query.join)
      const view = query.filter === undefined ? undefined : await viewFor(store, scope)
      const read = readListQuery(resource, query as ListParameters, view?.columns)
      const listQuery = { ...read, where: and([read.where, ...(extras?.where(query) ?? [])]) }
      const headers = (total: number) => ({
        'x-total-count': String(total),
        ...pageLinks(request.url, listQuery, total),
      })
      if (joins.length === 0) {
        const { page, total } = await listTexts(store, scope, listQuery)
        return { headers: headers(total), json: `[${page.map(({ json }) => json).join(',')}]` }
      }
      const fields = listQuery.fields && [...listQuery.fields, ...joinFields(resource, joins)]
      const { page, total } = await listEntities(store, scope, { ...listQuery, fields })
      const entities = page.map(({ entity }) => entity)
      await loadJoins(services, caller, resource, entities, joins)
      return { headers: headers(total), body: entities.map((entity) => only(entity, listQuery.fields, joins)) }
    },
  })
}

function get<S extends BaseServices>(resource: Resource<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'get', 'read'),
    method: 'GET',
    path: `${resource.path}/{id}`,
    summary: `Get one of the ${resource.name}`,
    audit: auditOfReads(resource),
    query: selectionSchema,
    success: { status: 200, description: 'The record', schema: outputSchema(resource), headers: ['ETag'] },
    async handle({ request, caller, scope, services }, { params, query }) {
      const store = { resource, services }
      const joins = readJoins(resource, query.join)
      const wanted = readFields(resource, query.fields)
      if (joins.length === 0) {
        const { json, tag } = await getText(store, scope, params.id, wanted)
        const headers = { etag: etagOf(tag) }
        const isHeld = !resource.hasLiveFields && isUnchanged(request, tag)
        return isHeld ? { status: 304, headers } : { headers, json }
      }
      // The ETag covers this record alone, so with joins there is no 304.
      const fields = wanted && [...wanted, ...joinFields(resource, joins)]
      const stored = await getEntity(store, scope, params.id, fields)
      await loadJoins(services, caller, resource, [stored.entity], joins)
      return answer({ ...stored, entity: only(stored.entity, wanted, joins) })
    },
  })
}

function create<S extends BaseServices>(resource: Resource<S>, addition?: Addition<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'create', 'write'),
    method: 'POST',
    path: resource.path,
    summary: `Create one of the ${resource.name}`,
    body: createSchema(resource),
    beforeBody: ({ scope }) => demandAnyId(scope),
    bodyLimit: resource.bodyLimit,
    budget: resource.budget,
    success: {
      status: 201,
      description: 'The record made',
      schema: outputSchema(resource),
      headers: ['ETag', 'Location'],
    },
    failures: [409, ...(resource.writeFailures ?? [])],
    async handle(context, { body }) {
      const { caller, scope, services } = context
      demandAnyId(scope)
      const input = body as Entity
      const applicationId = chooseApplication(caller, input.applicationId)
      const values: Entity = {}
      for (const [name, field] of Object.entries(resource.fields)) {
        if (isInputField(field)) values[name] = input[name] ?? field.default
      }
      const whole = await prepared(resource, { values, applicationId, input }, context)
      const stored = await insertEntity({ resource, services }, scope, applicationId, whole, addition)
      const { headers, body: entity } = answer(stored)
      return { headers: { ...headers, location: `${resource.path}/${stored.entity.id}` }, body: entity }
    },
  })
}

function replace<S extends BaseServices>(resource: Resource<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'replace', 'write'),
    ...changing(resource),
    method: 'PUT',
    path: `${resource.path}/{id}`,
    summary: `Replace one of the ${resource.name}`,
    description:
      resource.replacement === 'full'
        ? 'A full replacement: omitted optional fields go back to their defaults, metadata is kept.'
        : keepingNote(resource),
    body: replaceSchema(resource),
    async handle(context, { params, body }) {
      const { request, scope, services } = context
      const stored = await changeEntity({ resource, services }, scope, params.id, readIfMatch(request), (current) =>
        prepared(
          resource,
          { values: replacement(resource, body as Entity), previous: current, input: body as Entity },
          context,
        ),
      )
      return answer(stored)
    },
  })
}

function patch<S extends BaseServices>(resource: Resource<S>): Operation<S> {
  const checkChanges = validator(changesSchema(resource), 'body')
  return operationUsing<S>()({
    ...common(resource, 'patch', 'write'),
    ...changing(resource),
    method: 'PATCH',
    path: `${resource.path}/{id}`,
    summary: `Change some fields of one of the ${resource.name}`,
    description: 'A JSON merge patch (RFC 7396).',
    body: patchSchema(resource),
    async handle(context, { params, body }) {
      const { request, scope, services } = context
      const stored = await changeEntity({ resource, services }, scope, params.id, readIfMatch(request), (current) => {
        const values = checkChanges(patched(resource, current, body as Entity)) as Entity
        return prepared(resource, { values, previous: current, input: body as Entity }, context)
      })
      return answer(stored)
    },
  })
}

/** DELETE of one record, with its dependents. */
export function deleteOperation<S extends BaseServices>(resource: Resource<S>, removal?: Removal<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'delete', 'write'),
    method: 'DELETE',
    path: `${resource.path}/{id}`,
    summary: `Delete one of the ${resource.name}`,
    ...(removal?.parameters && { query: Type.Object(removal.parameters) }),
    success: { status: 200, description: 'Deleted; no body' },
    failures: [409, 412],
    async handle({ request, scope, services }, { params, query }) {
      await removeEntity({ resource, services }, scope, params.id, readIfMatch(request), removal, query)
      return {}
    },
  })
}

/** Only a master key may create records for another application; other keys always create in their own. */
export function chooseApplication(caller: Caller, wanted: unknown): string {
  if (caller.type !== 'master' || wanted === undefined || wanted === null) return caller.applicationId
  if (typeof wanted !== 'string' || !isUuid(wanted)) throw invalid('body/applicationId', 'must be a UUID')
  if (!caller.everyApplication && wanted.toLowerCase() !== caller.applicationId) {
    throw invalid('body/applicationId', 'must be the application that the x-application-id header names')
  }
  return wanted.toLowerCase()
}

/** PATCH: null resets a field to its default. */
function patched(resource: Resource, current: Entity, patch: Entity): Entity {
  const values: Entity = {}
  for (const [name, change] of Object.entries(patch)) {
    const field = resource.fields[name]
    if (!field || !isChangeable(field)) continue
    if (change === null && field.required) throw invalid(`body/${name}`, 'is required and cannot be removed')
    values[name] = change === null ? field.default : mergePatch(current[name], change)
  }
  return values
}

type Values = { values: Entity; previous?: Entity; applicationId?: string; input: Entity }

type PrepareContext<S> = { readonly scope: Scope; readonly signal: AbortSignal; readonly services: S }

/** What to store, and in the audit log the names of what changes. */
async function prepared<S extends BaseServices>(
  resource: Resource<S>,
  draft: Values,
  context: PrepareContext<S>,
): Promise<Entity> {
  const { scope, services } = context
  const { previous, input } = draft
  const applicationId = draft.applicationId ?? String(previous?.applicationId ?? previous?.id)
  const whole = { ...draft, applicationId, leaving: () => context.signal }
  const next = resource.prepare ? await resource.prepare(whole, scope, services) : draft.values
  if (scope.trail) {
    scope.trail.changed = previous ? changedFields(resource, previous, next, input) : inputFields(resource, input)
  }
  return next
}

const answer = ({ entity, tag }: StoredEntity): Answer => ({ headers: { etag: etagOf(tag) }, body: entity })

/** Fields that were read only to follow a join are not part of the answer. */
function only(entity: Entity, fields: readonly string[] | undefined, joins: readonly string[]): Entity {
  if (!fields) return entity
  return Object.fromEntries(Object.entries(entity).filter(([name]) => fields.includes(name) || joins.includes(name)))
}
