import type { Sql } from '../../../kernel/db/sql.ts'
import { limits } from '../../../kernel/limits/limits.ts'
import type { Scope } from '../../access/acl.ts'
import { freeRecord, freeValue } from '../../http/input/bounded-schemas.ts'
import { type Answer, type Operation, operationUsing } from '../../http/operation.ts'
import { recordGuard } from '../reach.ts'
import type { BaseServices, Resource, Store } from '../resource.ts'
import { etagOf, isUnchanged, readIfMatch } from '../revision.ts'
import { type ExpectedRevision, getEntity, type JsonStored, readJson, updateJson } from '../store.ts'
import { mergedAt, mergedWith, valueAt, withoutKey, withValueAt } from './json-document.ts'

/** SQL for the new metadata from the old, and the top-level keys that it changes. */
export type MetadataChange = { readonly next: Sql; readonly named: readonly string[] }

/** Customizes how metadata are written; see guarded-metadata.ts. */
export type MetadataWriter<S extends BaseServices> = {
  write(
    store: Store<S>,
    scope: Scope,
    id: string,
    expected: ExpectedRevision,
    change: MetadataChange,
  ): Promise<JsonStored>
  /** Keys whose members stay when PUT of the key does not name them. */
  readonly mergedKeys: readonly string[]
}

const plainWriter: MetadataWriter<BaseServices> = {
  write: (store, scope, id, expected, { next }) => updateJson(store, scope, id, expected, { column: 'metadata', next }),
  mergedKeys: [],
}

const metadataSchema = freeRecord('metadataBytes', { examples: [{ colour: { hex: '#2a6' } }] })
const valueSchema = freeValue('metadataBytes', { examples: [{ hex: '#2a6' }] })
/** White space and escapes take room that is not stored. */
const bodyLimit = 4 * limits.metadataBytes.value
const whole = { status: 200, description: 'The whole metadata object', schema: metadataSchema, headers: ['ETag'] }

/** The five metadata operations of any resource: read to look, write to change, on the record itself. */
export const metadataOperations = <S extends BaseServices>(
  resource: Resource<S>,
  writer: MetadataWriter<S> = plainWriter,
): Operation<S>[] => [
  getWhole(resource),
  mergeWhole(resource, writer),
  getKey(resource),
  setKey(resource, writer),
  deleteKey(resource, writer),
]

const common = (resource: Resource, verb: string, level: 'read' | 'write') => ({
  id: `${resource.name}.metadata.${verb}`,
  path: `${resource.path}/{id}/metadata` as const,
  access: { class: resource.acl, level },
})

function getWhole<S extends BaseServices>(resource: Resource<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'get', 'read'),
    method: 'GET',
    summary: `Get the metadata of one of the ${resource.name}`,
    success: whole,
    async handle({ request, scope, services }, { params: { id } }) {
      const { entity, revision } = await getEntity({ resource, services }, scope, id, ['metadata'])
      if (isUnchanged(request, revision)) return { status: 304, headers: { etag: etagOf(revision) } }
      return { headers: { etag: etagOf(revision) }, body: entity.metadata }
    },
  })
}

function mergeWhole<S extends BaseServices>(resource: Resource<S>, writer: MetadataWriter<S>): Operation<S> {
  return operationUsing<S>()({
    ...common(resource, 'merge', 'write'),
    method: 'PUT',
    summary: `Merge into the metadata of one of the ${resource.name}`,
    description: 'Keys given are set, keys not given stay.',
    body: metadataSchema,
    bodyLimit,
    beforeBody: recordGuard(resource),
    success: whole,
    failures: [412],
    handle: ({ request, scope, services }, { params: { id }, body }) =>
      update(writer, { resource, services }, scope, id, readIfMatch(request), {
        next: mergedWith('metadata', body),
        named: Object.keys(body),
      }),
  })
}

function getKey<S extends BaseServices>(resource: Resource<S>): Operation<S> {
  const { path, ...rest } = common(resource, 'getKey', 'read')
  return operationUsing<S>()({
    ...rest,
    method: 'GET',
    path: `${path}/{key}`,
    summary: `Get one key of the metadata of one of the ${resource.name}`,
    description: 'The key may be dotted.',
    success: { status: 200, description: 'The value', schema: valueSchema },
    handle: async ({ scope, services }, { params: { id, key } }) => ({
      body: await readJson({ resource, services }, scope, id, 'metadata', valueAt('metadata', key)),
    }),
  })
}

function setKey<S extends BaseServices>(resource: Resource<S>, writer: MetadataWriter<S>): Operation<S> {
  const { path, ...rest } = common(resource, 'setKey', 'write')
  return operationUsing<S>()({
    ...rest,
    method: 'PUT',
    path: `${path}/{key}`,
    summary: `Set one key of the metadata of one of the ${resource.name}`,
    description: `The key may be dotted: objects on the way are made.${mergedNote(writer)}`,
    body: valueSchema,
    bodyLimit,
    beforeBody: recordGuard(resource),
    success: whole,
    failures: [412],
    handle: async ({ request, scope, services }, { params: { id, key }, body }) =>
      update(writer, { resource, services }, scope, id, readIfMatch(request), {
        next: writer.mergedKeys.includes(key) ? mergedAt('metadata', key, body) : withValueAt('metadata', key, body),
        named: topOf(key),
      }),
  })
}

function deleteKey<S extends BaseServices>(resource: Resource<S>, writer: MetadataWriter<S>): Operation<S> {
  const { path, ...rest } = common(resource, 'deleteKey', 'write')
  return operationUsing<S>()({
    ...rest,
    method: 'DELETE',
    path: `${path}/{key}`,
    summary: `Delete one key of the metadata of one of the ${resource.name}`,
    success: whole,
    failures: [412],
    async handle({ request, scope, services }, { params: { id, key } }) {
      const store = { resource, services }
      await readJson(store, scope, id, 'metadata', valueAt('metadata', key))
      return update(writer, store, scope, id, readIfMatch(request), {
        next: withoutKey('metadata', key),
        named: topOf(key),
      })
    },
  })
}

const mergedNote = ({ mergedKeys: keys }: Pick<MetadataWriter<never>, 'mergedKeys'>): string =>
  keys.length === 0 ? '' : ` An object is merged into \`${keys.join('`, `')}\`: members that it does not name stay.`

/** A dotted key may also be a literal one, which then is at the top itself. */
const topOf = (key: string): string[] => [key, key.split('.', 1)[0] ?? '']

async function update<S extends BaseServices>(
  { write }: MetadataWriter<S>,
  store: Store<S>,
  scope: Scope,
  id: string,
  expected: ExpectedRevision,
  change: MetadataChange,
): Promise<Answer> {
  if (scope.trail) scope.trail.changed = change.named.includes('auth') ? ['metadata', 'metadata.auth'] : ['metadata']
  const { value, revision } = await write(store, scope, id, expected, change)
  return { headers: { etag: etagOf(revision) }, body: value }
}
