import Type, { type TSchema } from 'typebox'
import type { Caller, Scope } from '../access/acl.ts'
import type { Db } from '../db/db.ts'
import { json, type Sql, sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import { type Address, type Answer, type Operation, operation } from '../http/operation.ts'
import type { QueryTree } from '../http/query-string.ts'
import { crudOperations } from '../resource/crud.ts'
import { readKey, valueAt, withoutKey, withValueAt } from '../resource/json-document.ts'
import { listSchema } from '../resource/list-query.ts'
import { mergePatch } from '../resource/merge-patch.ts'
import type { Entity, Resource } from '../resource/resource.ts'
import { etagOf, readIfMatch } from '../resource/revision.ts'
import { outputSchema } from '../resource/schemas.ts'
import { changeEntity, readJson, type Store, updateJson } from '../resource/store.ts'
import { configSchema, withoutReserved } from './app-config.ts'

/** What the server says of itself, under `svc` in every configuration. */
type About = { readonly svc: object }

/** The configuration is the caller's own application's, so that is the id the ACL is asked for. */
const own = (_: Address, caller: Caller): string => caller.applicationId
const executes = { class: 'appconfig', level: 'execute', id: own } as const
const writes = { class: 'appconfig', level: 'write', id: own } as const
const success = (description: string, schema: TSchema = configSchema) => ({ status: 200, description, schema })
const whole = { ...success('The configuration; `svc` describes the server'), headers: ['ETag'] }

/** The configuration of the key's application, whole or by dotted key. */
export function configOperations(db: Db, resource: Resource, about: About): Operation[] {
  const store = { db, resource }
  return [...wholeOperations(store, about), ...keyOperations(store, about)]
}

function wholeOperations(store: Store, about: About): Operation[] {
  const { path, bodyLimit } = store.resource
  const listRecords = crudOperations(store).find(({ id }) => id === 'appconfig.list')?.handle
  return [
    operation({
      id: 'appconfig.get',
      method: 'GET',
      path,
      summary: 'Get the configuration of the key’s application',
      description: 'With any of the list parameters it lists AppConfig records instead, which needs read access.',
      access: {
        class: 'appconfig',
        level: ({ query }) => (isListing(query) ? 'read' : 'execute'),
        id: ({ query }, caller) => (isListing(query) ? undefined : caller.applicationId),
      },
      query: listSchema,
      success: success(whole.description, Type.Union([configSchema, Type.Array(outputSchema(store.resource))])),
      async handle(context, input) {
        if (isListing(context.tree) && listRecords) return listRecords(context, input)
        return { body: { ...(await readConfig(store, context.scope)), ...about } }
      },
    }),
    operation({
      id: 'appconfig.current',
      method: 'GET',
      path: `${path}/current`,
      summary: 'Get the current configuration',
      description: 'What a front end calls, with a key that has execute access to appconfig and nothing else.',
      access: executes,
      success: success(whole.description),
      handle: async ({ scope }) => ({ body: { ...(await readConfig(store, scope)), ...about } }),
    }),
    operation({
      id: 'appconfig.set',
      method: 'PUT',
      path,
      summary: 'Set the entire configuration',
      access: writes,
      body: configSchema,
      bodyLimit,
      success: whole,
      failures: [412],
      handle: ({ request, scope }, { body }) =>
        writeConfig(store, scope, readIfMatch(request), json(withoutReserved(body)), about),
    }),
    operation({
      id: 'appconfig.merge',
      method: 'PATCH',
      path,
      summary: 'Change parts of the configuration',
      description: 'A JSON merge patch (RFC 7396).',
      access: writes,
      body: configSchema,
      bodyLimit,
      success: whole,
      failures: [409, 412],
      async handle({ request, scope }, { body }) {
        await makeRecord(store, scope)
        const id = scope.caller.applicationId
        const { entity, revision } = await changeEntity(store, scope, id, readIfMatch(request), async ({ config }) => ({
          config: mergePatch(config, withoutReserved(body)),
        }))
        return { headers: { etag: etagOf(revision) }, body: { ...(entity.config as object), ...about } }
      },
    }),
  ]
}

function keyOperations(store: Store, about: About): Operation[] {
  const { path, bodyLimit } = store.resource
  return [
    operation({
      id: 'appconfig.key.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get a value of the configuration by its dotted key',
      access: executes,
      success: success('The value', Type.Unknown()),
      async handle({ scope, caller }, { params: { id = '' } }) {
        if (isReserved(id)) return { body: lookUp(about, readKey(id).path) }
        return { body: await readJson(store, scope, caller.applicationId, 'config', valueAt('config', id)) }
      },
    }),
    operation({
      id: 'appconfig.key.set',
      method: 'PUT',
      path: `${path}/{id}`,
      summary: 'Set a value of the configuration by its dotted key',
      access: writes,
      body: Type.Unknown({ examples: [{ colour: '#2a6' }] }),
      bodyLimit,
      success: whole,
      failures: [412],
      async handle({ request, scope }, { params: { id = '' }, body }) {
        return writeConfig(store, scope, readIfMatch(request), withValueAt('config', writableKey(id), body), about)
      },
    }),
    operation({
      id: 'appconfig.key.delete',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a value of the configuration by its dotted key',
      access: writes,
      success: whole,
      failures: [412],
      async handle({ request, scope, caller }, { params: { id = '' } }) {
        await readJson(store, scope, caller.applicationId, 'config', valueAt('config', writableKey(id)))
        return writeConfig(store, scope, readIfMatch(request), withoutKey('config', id), about)
      },
    }),
  ]
}

const isListing = (query: QueryTree): boolean => Object.keys(listSchema.properties).some((name) => name in query)

async function readConfig({ db }: Store, { caller }: Scope): Promise<Entity> {
  const [row] = await db.query<{ config: Entity }>(
    sql`SELECT config FROM svc.appconfig WHERE application_id = ${caller.applicationId}`,
  )
  return row?.config ?? {}
}

/** One statement computes the new configuration from the old one, so that no update is lost. */
async function writeConfig(
  store: Store,
  scope: Scope,
  expected: ReturnType<typeof readIfMatch>,
  next: Sql,
  about: About,
): Promise<Answer> {
  await makeRecord(store, scope)
  const change = { next, named: [] }
  const { value, revision } = await updateJson(store, scope, scope.caller.applicationId, expected, 'config', change)
  return { headers: { etag: etagOf(revision) }, body: { ...value, ...about } }
}

async function makeRecord({ db }: Store, { caller }: Scope): Promise<void> {
  await db.query(sql`
    INSERT INTO svc.appconfig (application_id) SELECT id FROM svc.applications WHERE id = ${caller.applicationId}
    FOR KEY SHARE
    ON CONFLICT DO NOTHING`)
}

const isReserved = (key: string): boolean => /^svc(\.|$)/.test(key)

function writableKey(key: string): string {
  if (isReserved(key))
    throw invalid('path/key', "must not begin with svc, which is reserved for the server's own settings")
  return key
}

function lookUp(document: unknown, path: readonly string[]): unknown {
  let value = document
  for (const part of path) {
    const isFound = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    if (!isFound) throw new ApiError('not_found', 'There is no such key.')
    value = (value as Record<string, unknown>)[part]
  }
  return value
}
