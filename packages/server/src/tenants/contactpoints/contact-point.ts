import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { freeObject } from '../../api/http/input/bounded-schemas.ts'
import { defineResource, type Entity, field } from '../../api/resource/resource.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { demandBoundDatasets } from './bound-datasets.ts'
import type { Settings } from './driver.ts'
import { driverNames, driverOf } from './drivers.ts'
import { changeSettings, openSettings, sealSettings, settingsAssociatedData } from './secret-settings.ts'

const nullable = (schema: Type.TSchema) => Type.Union([schema, Type.Null()])

/** The resource of contact points. Secret settings are encrypted and never returned. */
export const contactPoint = defineResource({
  name: 'contactpoints',
  title: 'ContactPoint',
  acl: 'contactpoints',
  replacement: 'full',
  example: {
    name: 'Harbour office',
    type: 'webhook',
    settings: { url: 'https://hooks.example.org/graticule', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  fields: {
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '' }),
    type: field('string', Type.Enum([...driverNames], { description: 'The driver' }), { required: true }),
    settings: field(
      'json',
      freeObject('bodyBytes', {
        description: 'What the driver needs. Secrets are not returned; one that is left out stays, null removes it.',
      }),
      { required: true, queryable: false },
    ),
    secureFields: field(
      'json',
      Type.Record(Type.String(), Type.Boolean(), { description: 'The secrets that are set' }),
      { mode: 'readOnly', queryable: false },
    ),
    enabled: field('boolean', Type.Boolean(), { default: true }),
    lastDeliveryAt: field('datetime', nullable(Type.String({ format: 'date-time' })), { mode: 'readOnly' }),
    lastStatus: field('string', nullable(Type.Enum(['delivered', 'failed'])), { mode: 'readOnly' }),
    secrets: field('string', Type.Null({ description: 'Set by the service, from the secrets in settings' }), {
      mode: 'writeOnly',
    }),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values: { secrets: _, ...values }, previous, applicationId, input }, scope, { db, secrets }) {
    const type = values.type ?? previous?.type
    if (previous && values.settings === undefined && type === previous.type) return values
    const before = previous?.type === type ? previous : undefined
    const place = settingsAssociatedData(applicationId, type)
    const current = before && {
      plain: before.settings as Settings,
      secret: openSettings(secrets, await sealedOf(db, before), place),
    }
    const { plain, secret } = changeSettings({
      driver: driverOf(type),
      ...(current && { previous: current }),
      next: (values.settings ?? previous?.settings) as Settings,
      removed: nullNames(input.settings),
    })
    if (previous && !isDeepStrictEqual(current, { plain, secret }))
      await demandBoundDatasets(db, scope, String(previous.id))
    const secureFields = Object.fromEntries(Object.keys(secret).map((name) => [name, true]))
    return { ...values, settings: plain, secureFields, secrets: sealSettings(secrets, secret, place) }
  },
})

/** What was sealed when this record was read; a change in between is noticed by its revision. */
async function sealedOf(db: Db, { id }: Entity): Promise<string | null> {
  const [row] = await db.query<{ secrets: string | null }>(
    sql`SELECT secrets FROM svc.contactpoints WHERE id = ${String(id)}::uuid`,
  )
  return row?.secrets ?? null
}

function nullNames(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return []
  return Object.entries(settings).flatMap(([name, value]) => (value === null ? [name] : []))
}
