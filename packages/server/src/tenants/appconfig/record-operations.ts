import { changeWithEntry } from '../../api/access/audit-trail.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { rethrowRefusal } from '../../api/resource/constraint-errors.ts'
import { chooseApplication, crudOperations } from '../../api/resource/crud.ts'
import type { BaseServices, Entity } from '../../api/resource/resource.ts'
import { createSchema, outputSchema } from '../../api/resource/schemas.ts'
import { getEntity } from '../../api/resource/store.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { appConfig, configJson, withoutReserved } from './app-config.ts'

const hex = (digits: number) => `[0-9a-fA-F]{${digits}}`
const uuidPattern = `^${[8, 4, 4, 4, 12].map(hex).join('-')}$`

const byId = crudOperations(appConfig)
  .filter(({ path }) => path.endsWith('/{id}'))
  .map((operation) => ({
    ...operation,
    id: operation.id.replace('.', '.record.'),
    idPattern: uuidPattern,
    // The key of a configuration cannot be patched.
    ...(operation.method === 'PATCH' && { failures: [...(operation.failures ?? []), 405] }),
  }))

const record = { applicationId: raw('application_id'), id: raw('application_id::text'), name: undefined }

/** An application has one record: creating it again replaces it. */
const createRecord = operationUsing<BaseServices>()({
  id: 'appconfig.record.create',
  method: 'POST',
  path: appConfig.path,
  summary: 'Create the configuration record of an application, or replace it',
  access: { class: 'appconfig', level: 'write', id: (_, caller) => caller.applicationId },
  body: createSchema(appConfig),
  bodyLimit: appConfig.bodyLimit,
  budget: appConfig.budget,
  success: { status: 201, description: 'The record', schema: outputSchema(appConfig) },
  async handle({ caller, scope, services }, { body }) {
    const input = body as Entity
    const id = chooseApplication(caller, input.applicationId)
    const config = configJson(withoutReserved((input.config as object | undefined) ?? {}))
    const { trail } = scope
    const put = sql`
        INSERT INTO svc.appconfig (application_id, config) SELECT id, ${config} FROM svc.applications WHERE id = ${id}
        FOR KEY SHARE
        ON CONFLICT (application_id) DO UPDATE SET config = EXCLUDED.config,
          revision = appconfig.revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())`
    if (trail) trail.changed = ['config']
    const stored = await changeWithEntry(services.db, trail, put, raw('application_id'), record).catch(rethrowRefusal)
    if (trail && stored.length > 0) trail.isWritten = true
    const { entity } = await getEntity({ resource: appConfig, services }, scope, id)
    return { headers: { location: `${appConfig.path}/${id}` }, body: entity }
  },
})

/** AppConfig as records: an address with an application's id means the record, any other the key of a configuration. */
export const recordOperations: readonly Operation<BaseServices>[] = [createRecord, ...byId]
