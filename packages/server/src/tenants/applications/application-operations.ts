import Type from 'typebox'
import type { Scope } from '../../api/access/acl.ts'
import { afterWrites } from '../../api/http/after-writes.ts'
import type { Operation } from '../../api/http/operation.ts'
import { guardedWriter } from '../../api/resource/documents/guarded-metadata.ts'
import { readIfMatch } from '../../api/resource/revision.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { getEntity } from '../../api/resource/store.ts'
import { sql } from '../../kernel/db/sql.ts'
import { type ApplicationServices, application, applicationRemoval, guardMetadata } from './application.ts'

/** Invalidates the cached keys and sessions of the application. */
function forget(applicationId: string, { keys, bearers }: ApplicationServices): void {
  keys.forgetApplication(applicationId)
  bearers.forget({ applicationId })
}

const keysSchema = Type.Object(
  { developer: Type.String({ format: 'uuid' }), public: Type.String({ format: 'uuid' }) },
  {
    readOnly: true,
    description:
      'Two API keys: one may do everything in the application, the other, for web pages, reads and queries datasets, shows maps ' +
      'and serves the user who signed in. They are shown here only; `GET /api/v1/apikeys` lists them later.',
  },
)

/** A new application gets a developer key and a public key, like the first one. */
function withFirstKeys(create: Operation<ApplicationServices>): Operation<ApplicationServices> {
  const { properties } = outputSchema(application)
  return {
    ...create,
    success: {
      ...create.success,
      description: 'The record made, and its first keys',
      schema: Type.Object({ ...properties, keys: keysSchema }, { title: 'NewApplication' }),
    },
  }
}

/**
 * The keys and sessions of an application are deleted before its data, in a separate transaction: readers block the drop of
 * its tables, and other replicas end those readers only once they see that the key is gone.
 */
function revokingFirst(remove: Operation<ApplicationServices>): Operation<ApplicationServices> {
  return {
    ...remove,
    async handle(context, input) {
      const { scope } = context as typeof context & { scope: Scope }
      const { services } = context
      const expected = readIfMatch(context.request)
      const { entity, revision } = await getEntity({ resource: application, services }, scope, input.params.id ?? '', [
        'id',
      ])
      const id = String(entity.id)
      if (expected === 'any' || expected.includes(revision)) {
        await revoke(services, id)
        forget(id, services)
      }
      return remove.handle(context, input)
    },
  }
}

/**
 * Not when the application has the last master key, with which it cannot be deleted. Locks as all others do: application,
 * users, then what is theirs.
 */
const revoke = ({ db }: ApplicationServices, id: string) =>
  db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM svc.applications WHERE id = ${id}::uuid FOR UPDATE`)
    const [other] = await tx.query(
      sql`SELECT FROM svc.apikeys WHERE type = 'master' AND application_id <> ${id}::uuid LIMIT 1`,
    )
    if (!other) return
    await tx.query(sql`SELECT FROM svc.users WHERE application_id = ${id}::uuid ORDER BY id FOR UPDATE`)
    await tx.query(sql`
      UPDATE svc.sessions SET revoked_at = clock_timestamp() WHERE application_id = ${id}::uuid AND revoked_at IS NULL`)
    await tx.query(sql`DELETE FROM svc.apikeys WHERE application_id = ${id}::uuid AND type <> 'master'`)
  })

const standard = standardOperations<ApplicationServices>(application, {
  addition: async (tx, { id }, { addFirstKeys }) => ({ keys: await addFirstKeys(tx, String(id)) }),
  removal: applicationRemoval,
  metadata: guardedWriter(guardMetadata, ['auth']),
})

export const applicationOperations: readonly Operation<ApplicationServices>[] = afterWrites(
  standard.map((one) => {
    if (one.id === 'applications.create') return withFirstKeys(one)
    return one.id === 'applications.delete' ? revokingFirst(one) : one
  }),
  (id, services) => forget(id.toLowerCase(), services),
)
