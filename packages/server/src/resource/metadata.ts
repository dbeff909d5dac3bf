import Type from 'typebox'
import type { Scope } from '../access/acl.ts'
import { type Answer, type Operation, operation } from '../http/operation.ts'
import { mergedAt, mergedWith, valueAt, withoutKey, withValueAt } from './json-document.ts'
import { etagOf, isUnchanged, readIfMatch } from './revision.ts'
import { type Expected, getEntity, type JsonChange, readJson, type Store, updateJson } from './store.ts'

const metadataSchema = Type.Record(Type.String(), Type.Unknown(), { examples: [{ colour: { hex: '#2a6' } }] })
const valueSchema = Type.Unknown({ examples: [{ hex: '#2a6' }] })
const whole = { status: 200, description: 'The whole metadata object', schema: metadataSchema, headers: ['ETag'] }

/** The five metadata operations of any resource: read to look, write to change, on the record itself. */
export function metadataOperations(store: Store): Operation[] {
  return [getWhole(store), mergeWhole(store), getKey(store), setKey(store), deleteKey(store)]
}

const common = ({ resource }: Store, verb: string, level: 'read' | 'write') => ({
  id: `${resource.name}.metadata.${verb}`,
  path: `${resource.path}/{id}/metadata`,
  access: { class: resource.acl, level },
})

function getWhole(store: Store): Operation {
  return operation({
    ...common(store, 'get', 'read'),
    method: 'GET',
    summary: `Get the metadata of one of the ${store.resource.name}`,
    success: whole,
    async handle({ request, scope }, { params: { id = '' } }) {
      const { entity, revision } = await getEntity(store, scope, id, ['metadata'])
      if (isUnchanged(request, revision)) return { status: 304, headers: { etag: etagOf(revision) } }
      return { headers: { etag: etagOf(revision) }, body: entity.metadata }
    },
  })
}

function mergeWhole(store: Store): Operation {
  return operation({
    ...common(store, 'merge', 'write'),
    method: 'PUT',
    summary: `Merge into the metadata of one of the ${store.resource.name}`,
    description: 'Keys given are set, keys not given stay.',
    body: metadataSchema,
    success: whole,
    failures: [412],
    handle: ({ request, scope }, { params: { id = '' }, body }) =>
      update(store, scope, id, readIfMatch(request), {
        next: mergedWith('metadata', body),
        named: Object.keys(body),
      }),
  })
}

function getKey(store: Store): Operation {
  const { path, ...rest } = common(store, 'getKey', 'read')
  return operation({
    ...rest,
    method: 'GET',
    path: `${path}/{key}`,
    summary: `Get one key of the metadata of one of the ${store.resource.name}`,
    description: 'The key may be dotted.',
    success: { status: 200, description: 'The value', schema: valueSchema },
    handle: async ({ scope }, { params: { id = '', key = '' } }) => ({
      body: await readJson(store, scope, id, 'metadata', valueAt('metadata', key)),
    }),
  })
}

function setKey(store: Store): Operation {
  const { path, ...rest } = common(store, 'setKey', 'write')
  return operation({
    ...rest,
    method: 'PUT',
    path: `${path}/{key}`,
    summary: `Set one key of the metadata of one of the ${store.resource.name}`,
    description: `The key may be dotted: objects on the way are made.${mergedNote(store)}`,
    body: valueSchema,
    success: whole,
    failures: [412],
    handle: async ({ request, scope }, { params: { id = '', key = '' }, body }) =>
      update(store, scope, id, readIfMatch(request), {
        next: isMerged(store, key) ? mergedAt('metadata', key, body) : withValueAt('metadata', key, body),
        named: topOf(key),
      }),
  })
}

function deleteKey(store: Store): Operation {
  const { path, ...rest } = common(store, 'deleteKey', 'write')
  return operation({
    ...rest,
    method: 'DELETE',
    path: `${path}/{key}`,
    summary: `Delete one key of the metadata of one of the ${store.resource.name}`,
    success: whole,
    failures: [412],
    async handle({ request, scope }, { params: { id = '', key = '' } }) {
      await readJson(store, scope, id, 'metadata', valueAt('metadata', key))
      return update(store, scope, id, readIfMatch(request), {
        next: withoutKey('metadata', key),
        named: topOf(key),
      })
    },
  })
}

const isMerged = ({ resource }: Store, key: string): boolean => resource.mergedMetadata?.includes(key) ?? false

const mergedNote = ({ resource: { mergedMetadata: keys = [] } }: Store): string =>
  keys.length === 0 ? '' : ` An object is merged into \`${keys.join('`, `')}\`: members that it does not name stay.`

/** A dotted key may also be a literal one, which then is at the top itself. */
const topOf = (key: string): string[] => [key, key.split('.', 1)[0] ?? '']

async function update(store: Store, scope: Scope, id: string, expected: Expected, change: JsonChange): Promise<Answer> {
  const { value, revision } = await updateJson(store, scope, id, expected, 'metadata', change)
  return { headers: { etag: etagOf(revision) }, body: value }
}
