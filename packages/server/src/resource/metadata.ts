import Type from 'typebox'
import { type Answer, type Operation, operation } from '../http/operation.ts'
import { mergedWith, valueAt, withoutKey, withValueAt } from './json-document.ts'
import { etagOf, isUnchanged, readIfMatch } from './revision.ts'
import { getEntity, readJson, type Store, updateJson } from './store.ts'

const metadataSchema = Type.Record(Type.String(), Type.Unknown(), { examples: [{ colour: { hex: '#2a6' } }] })
const valueSchema = Type.Unknown({ examples: [{ hex: '#2a6' }] })
const whole = { status: 200, description: 'The whole metadata object', schema: metadataSchema, headers: ['ETag'] }

/** The five metadata operations of any resource: read to look, write to change, on the record itself. */
export function metadataOperations(store: Store): Operation[] {
  const { name, title, acl, path: base } = store.resource
  const path = `${base}/{id}/metadata`
  const shared = (verb: string, level: 'read' | 'write') =>
    ({ id: `${name}.metadata.${verb}`, access: { class: acl, level } }) as const

  return [
    operation({
      ...shared('get', 'read'),
      method: 'GET',
      path,
      summary: `Get the metadata of a ${title}`,
      success: whole,
      async handle({ request, scope }, { params }) {
        const { entity, revision } = await getEntity(store, scope, params.id ?? '', ['metadata'])
        if (isUnchanged(request, revision)) return { status: 304, headers: { etag: etagOf(revision) } }
        return { headers: { etag: etagOf(revision) }, body: entity.metadata }
      },
    }),
    operation({
      ...shared('merge', 'write'),
      method: 'PUT',
      path,
      summary: `Merge into the metadata of a ${title}`,
      description: 'Keys given are set, keys not given stay.',
      body: metadataSchema,
      success: whole,
      failures: [412],
      handle: ({ request, scope }, { params, body }) =>
        answer(updateJson(store, scope, params.id ?? '', readIfMatch(request), 'metadata', mergedWith('metadata', body))),
    }),
    operation({
      ...shared('getKey', 'read'),
      method: 'GET',
      path: `${path}/{key}`,
      summary: `Get one key of the metadata of a ${title}`,
      description: 'The key may be dotted.',
      success: { status: 200, description: 'The value', schema: valueSchema },
      async handle({ scope }, { params }) {
        return { body: await readJson(store, scope, params.id ?? '', valueAt('metadata', params.key ?? '')) }
      },
    }),
    operation({
      ...shared('setKey', 'write'),
      method: 'PUT',
      path: `${path}/{key}`,
      summary: `Set one key of the metadata of a ${title}`,
      description: 'The key may be dotted: objects on the way are made.',
      body: valueSchema,
      success: whole,
      failures: [412],
      handle: ({ request, scope }, { params, body }) => {
        const next = withValueAt('metadata', params.key ?? '', body)
        return answer(updateJson(store, scope, params.id ?? '', readIfMatch(request), 'metadata', next))
      },
    }),
    operation({
      ...shared('deleteKey', 'write'),
      method: 'DELETE',
      path: `${path}/{key}`,
      summary: `Delete one key of the metadata of a ${title}`,
      success: whole,
      failures: [412],
      async handle({ request, scope }, { params }) {
        const { id = '', key = '' } = params
        await readJson(store, scope, id, valueAt('metadata', key))
        return answer(updateJson(store, scope, id, readIfMatch(request), 'metadata', withoutKey('metadata', key)))
      },
    }),
  ]
}

async function answer(update: ReturnType<typeof updateJson>): Promise<Answer> {
  const { value, revision } = await update
  return { headers: { etag: etagOf(revision) }, body: value }
}
