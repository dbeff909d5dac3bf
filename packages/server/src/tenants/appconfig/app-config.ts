import { freeRecord } from '../../api/http/input/bounded-schemas.ts'
import { configTooLarge } from '../../api/resource/constraint-errors.ts'
import { defineResource, field, uuidIdentity } from '../../api/resource/resource.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { documentBudget } from '../../kernel/json/json-budget.ts'
import { limits } from '../../kernel/limits/limits.ts'

export const configSchema = freeRecord('configBytes', {
  description: 'Any JSON object, at most 1 MiB. The key `svc` is reserved for the server.',
  examples: [{ theme: { colour: '#2a6' } }],
})

/** The configuration of applications: one record each, so the application's id is the record's. */
export const appConfig = defineResource({
  name: 'appconfig',
  title: 'AppConfig',
  acl: 'appconfig',
  metadata: false,
  identity: {
    ...uuidIdentity,
    column: 'application_id',
    columns: ['application_id'],
    read: (row) => String(row.application_id),
  },
  example: { config: { theme: { colour: '#2a6' } } },
  bodyLimit: 4 * 1024 * 1024,
  budget: documentBudget,
  fields: { config: field('json', configSchema, { default: {}, queryable: false, write: configJson }) },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  prepare: async ({ values }) => (values.config ? { config: withoutReserved(values.config) } : {}),
})

/** SQL: a configuration. Its size is checked before the database is sent all of it to find out. */
export function configJson(config: unknown): Sql {
  const text = JSON.stringify(config)
  if (Buffer.byteLength(text) > limits.configBytes.value) throw configTooLarge()
  return sql`${text}::jsonb`
}

/** Removes the server's own part, because clients send back what they read. */
export function withoutReserved(config: object): object {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== 'svc'))
}
