import Type, { type TSchema } from 'typebox'
import type { Caller, Scope } from '../../api/access/acl.ts'
import { freeValue } from '../../api/http/input/bounded-schemas.ts'
import type { QueryTree } from '../../api/http/input/query-string.ts'
import { type Answer, type Operation, operationUsing, type RequestTarget } from '../../api/http/operation.ts'
import { crudOperations } from '../../api/resource/crud.ts'
import { readKey, valueAt, withoutKey, withValueAt } from '../../api/resource/documents/json-document.ts'
import { mergePatch } from '../../api/resource/documents/merge-patch.ts'
import { listSchema } from '../../api/resource/list-query.ts'
import type { BaseServices, Entity } from '../../api/resource/resource.ts'
import { etagOf, readIfMatch } from '../../api/resource/revision.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import { changeEntity, readJson, updateJson } from '../../api/resource/store.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { appConfig, configJson, configSchema, withoutReserved } from './app-config.ts'

export type AppConfigServices = BaseServices & {
  /** The server's own part of every configuration, under `svc`. */
  readonly about: object
}
const operation = operationUsing<AppConfigServices>()
const { path, bodyLimit, budget } = appConfig
const storeIn = (services: AppConfigServices) => ({ resource: appConfig, services })
const withAbout = (config: object, { about }: AppConfigServices): object => ({ ...config, svc: about })
const listRecords = crudOperations(appConfig).find(({ id }) => id === 'appconfig.list')?.handle

/** The configuration is the caller's own application's, so that is the id the ACL is asked for. */
const callersApplication = (_: RequestTarget, caller: Caller): string => caller.applicationId
const executes = { class: 'appconfig', level: 'execute', id: callersApplication } as const
const writes = { class: 'appconfig', level: 'write', id: callersApplication } as const
const success = (description: string, schema: TSchema = configSchema) => ({ status: 200, description, schema })
const whole = { ...success('The configuration; `svc` describes the server'), headers: ['ETag'] }

const wholeOperations: readonly Operation<AppConfigServices>[] = [
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
    success: success(whole.description, Type.Union([configSchema, Type.Array(outputSchema(appConfig))])),
    async handle(context, input) {
      if (isListing(context.tree) && listRecords) return listRecords(context, input)
      return { body: withAbout(await readConfig(context.services, context.scope), context.services) }
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
    handle: async ({ scope, services }) => ({ body: withAbout(await readConfig(services, scope), services) }),
  }),
  operation({
    id: 'appconfig.set',
    method: 'PUT',
    path,
    summary: 'Set the entire configuration',
    access: writes,
    body: configSchema,
    bodyLimit,
    budget,
    success: whole,
    failures: [412],
    handle: ({ request, scope, services }, { body }) =>
      writeConfig(services, scope, readIfMatch(request), configJson(withoutReserved(body))),
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
    budget,
    success: whole,
    failures: [409, 412],
    async handle({ request, scope, services }, { body }) {
      await makeRecord(services, scope)
      if (scope.trail) scope.trail.changed = ['config']
      const id = scope.caller.applicationId
      const { entity, revision } = await changeEntity(
        storeIn(services),
        scope,
        id,
        readIfMatch(request),
        async ({ config }) => ({
          config: mergePatch(config, withoutReserved(body)),
        }),
      )
      return { headers: { etag: etagOf(revision) }, body: withAbout(entity.config as object, services) }
    },
  }),
]

const keyOperations: readonly Operation<AppConfigServices>[] = [
  operation({
    id: 'appconfig.key.get',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Get a value of the configuration by its dotted key',
    access: executes,
    success: success('The value', Type.Unknown()),
    async handle({ scope, caller, services }, { params: { id } }) {
      if (isReserved(id)) return { body: lookUp({ svc: services.about }, readKey(id).path) }
      return { body: await readJson(storeIn(services), scope, caller.applicationId, 'config', valueAt('config', id)) }
    },
  }),
  operation({
    id: 'appconfig.key.set',
    method: 'PUT',
    path: `${path}/{id}`,
    summary: 'Set a value of the configuration by its dotted key',
    access: writes,
    body: freeValue('configBytes', { examples: [{ colour: '#2a6' }] }),
    bodyLimit,
    budget,
    success: whole,
    failures: [412],
    async handle({ request, scope, services }, { params: { id }, body }) {
      return writeConfig(services, scope, readIfMatch(request), withValueAt('config', writableKey(id), body))
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
    async handle({ request, scope, caller, services }, { params: { id } }) {
      await readJson(storeIn(services), scope, caller.applicationId, 'config', valueAt('config', writableKey(id)))
      return writeConfig(services, scope, readIfMatch(request), withoutKey('config', id))
    },
  }),
]

/** The configuration of the key's application, whole or by dotted key. */
export const configOperations: readonly Operation<AppConfigServices>[] = [...wholeOperations, ...keyOperations]

const isListing = (query: QueryTree): boolean => Object.keys(listSchema.properties).some((name) => name in query)

async function readConfig({ db }: BaseServices, { caller }: Scope): Promise<Entity> {
  const [row] = await db.query<{ config: Entity }>(
    sql`SELECT config FROM svc.appconfig WHERE application_id = ${caller.applicationId}`,
  )
  return row?.config ?? {}
}

/** One statement computes the new configuration from the old one, so that no update is lost. */
async function writeConfig(
  services: AppConfigServices,
  scope: Scope,
  expected: ReturnType<typeof readIfMatch>,
  next: Sql,
): Promise<Answer> {
  await makeRecord(services, scope)
  if (scope.trail) scope.trail.changed = ['config']
  const change = { column: 'config', next }
  const { value, revision } = await updateJson(storeIn(services), scope, scope.caller.applicationId, expected, change)
  return { headers: { etag: etagOf(revision) }, body: withAbout(value, services) }
}

async function makeRecord({ db }: BaseServices, { caller }: Scope): Promise<void> {
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
