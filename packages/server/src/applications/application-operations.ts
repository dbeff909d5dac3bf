import Type from 'typebox'
import type { Scope } from '../access/acl.ts'
import type { Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { afterWrites } from '../http/after-writes.ts'
import type { Operation } from '../http/operation.ts'
import { crudOperations } from '../resource/crud.ts'
import { metadataOperations } from '../resource/metadata.ts'
import { readIfMatch } from '../resource/revision.ts'
import { outputSchema } from '../resource/schemas.ts'
import { getEntity, type Store } from '../resource/store.ts'

/** What is needed of API keys. */
export type ApplicationKeys = {
  /** Makes those that an application begins with. */
  addFirst(tx: Queryable, applicationId: string): Promise<{ developer: string; public: string }>
  /** What is remembered of the application's keys and sessions is to be asked anew. */
  forget(applicationId: string): void
}

export function applicationOperations(store: Store, keys: ApplicationKeys): Operation[] {
  const operations = [...crudOperations(store), ...metadataOperations(store)].map((one) => {
    if (one.id === 'applications.create') return withFirstKeys(store, one, keys)
    return one.id === 'applications.delete' ? revokingFirst(store, one, keys) : one
  })
  return afterWrites(operations, (id) => keys.forget(id.toLowerCase()))
}

const keysSchema = Type.Object(
  { developer: Type.String({ format: 'uuid' }), public: Type.String({ format: 'uuid' }) },
  {
    readOnly: true,
    description:
      'Two API keys: one may do everything in the application, the other reads and executes, for web pages. They are shown ' +
      'here only; `GET /api/v1/apikeys` lists them later.',
  },
)

/** A new application can be used at once: it begins with a developer key and a public key, as the first one does. */
function withFirstKeys({ db, resource }: Store, create: Operation, { addFirst }: ApplicationKeys): Operation {
  const { properties } = outputSchema(resource)
  return {
    ...create,
    success: {
      ...create.success,
      description: 'The record made, and its first keys',
      schema: Type.Object({ ...properties, keys: keysSchema }, { title: 'NewApplication' }),
    },
    async handle(context, input) {
      const answer = await create.handle(context, input)
      const made = answer.body as { id: string }
      const keys = await db
        .transaction((tx) => addFirst(tx, made.id))
        .catch(async (error) => {
          await db.query(sql`DELETE FROM svc.applications WHERE id = ${made.id}::uuid`)
          throw error
        })
      return { ...answer, body: { ...made, keys } }
    },
  }
}

/**
 * The keys and sessions of an application go before its data, in a transaction of their own: whoever reads its tables
 * keeps them from being dropped, and other replicas end that reader only once they see that its key is gone.
 */
function revokingFirst(store: Store, remove: Operation, { forget }: ApplicationKeys): Operation {
  return {
    ...remove,
    async handle(context, input) {
      const { scope } = context as typeof context & { scope: Scope }
      const expected = readIfMatch(context.request)
      const { entity, revision } = await getEntity(store, scope, input.params.id ?? '', ['id'])
      const id = String(entity.id)
      if (expected === 'any' || expected.includes(revision)) {
        await revoke(store, id)
        forget(id)
      }
      return remove.handle(context, input)
    },
  }
}

/**
 * Not when the application has the last master key, with which it cannot be deleted. Locks as all others do: application,
 * users, then what is theirs.
 */
const revoke = ({ db }: Store, id: string) =>
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
