import type { Db } from '../db/db.ts'
import { json, sql } from '../db/sql.ts'
import { type Operation, operation } from '../http/operation.ts'
import { chooseApplication, crudOperations } from '../resource/crud.ts'
import { refusalOf } from '../resource/refusal.ts'
import type { Entity, Resource } from '../resource/resource.ts'
import { createSchema, outputSchema } from '../resource/schemas.ts'
import { getEntity } from '../resource/store.ts'
import { withoutReserved } from './app-config.ts'

const hex = (digits: number) => `[0-9a-fA-F]{${digits}}`
const uuidPattern = `^${[8, 4, 4, 4, 12].map(hex).join('-')}$`

/** AppConfig as records: an address with an application's id means the record, any other the key of a configuration. */
export function recordOperations(db: Db, resource: Resource): Operation[] {
  const byId = crudOperations({ db, resource })
    .filter(({ path }) => path.endsWith('/{id}'))
    .map((operation) => ({
      ...operation,
      id: operation.id.replace('.', '.record.'),
      idPattern: uuidPattern,
      // The key of a configuration cannot be patched.
      ...(operation.method === 'PATCH' && { failures: [...(operation.failures ?? []), 405] }),
    }))
  return [createRecord(db, resource), ...byId]
}

/** An application has one record: creating it again replaces it. */
function createRecord(db: Db, resource: Resource): Operation {
  return operation({
    id: 'appconfig.record.create',
    method: 'POST',
    path: resource.path,
    summary: 'Create the configuration record of an application, or replace it',
    access: { class: 'appconfig', level: 'write', id: (_, caller) => caller.applicationId },
    body: createSchema(resource),
    bodyLimit: resource.bodyLimit,
    success: { status: 201, description: 'The record', schema: outputSchema(resource) },
    async handle({ caller, scope }, { body }) {
      const given = body as Entity
      const id = chooseApplication(caller, given.applicationId)
      const config = json(withoutReserved((given.config as object | undefined) ?? {}))
      await db
        .query(sql`
        INSERT INTO svc.appconfig (application_id, config) SELECT id, ${config} FROM svc.applications WHERE id = ${id}
        FOR KEY SHARE
        ON CONFLICT (application_id) DO UPDATE SET config = EXCLUDED.config,
          revision = appconfig.revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())`)
        .catch(refusalOf)
      const { entity } = await getEntity({ db, resource }, scope, id)
      return { headers: { location: `${resource.path}/${id}` }, body: entity }
    },
  })
}
