import type { Scope } from '../access/acl.ts'
import { sql } from '../db/sql.ts'
import { afterWrites } from '../http/after-writes.ts'
import type { Operation } from '../http/operation.ts'
import { crudOperations } from '../resource/crud.ts'
import { metadataOperations } from '../resource/metadata.ts'
import { readIfMatch } from '../resource/revision.ts'
import { getEntity, type Store } from '../resource/store.ts'

/** The standard operations. `forget`: what is remembered of the application's keys and sessions is to be asked anew. */
export function applicationOperations(store: Store, forget: (applicationId: string) => void): Operation[] {
  const operations = [...crudOperations(store), ...metadataOperations(store)]
  return afterWrites(
    operations.map((one) => (one.id === 'applications.delete' ? revokingFirst(store, one, forget) : one)),
    (id) => forget(id.toLowerCase()),
  )
}

/**
 * The keys and sessions of an application go before its data, in a transaction of their own: whoever reads its tables
 * keeps them from being dropped, and other replicas end that reader only once they see that its key is gone.
 */
function revokingFirst(store: Store, remove: Operation, forget: (applicationId: string) => void): Operation {
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
