import type { Authority } from '../access/authenticate.ts'
import type { Db } from '../db/db.ts'
import { afterWrites } from '../http/after-writes.ts'
import { bearerOf, type Operation, operation } from '../http/operation.ts'
import { crudOperations } from '../resource/crud.ts'
import { metadataOperations } from '../resource/metadata.ts'
import type { Resource } from '../resource/resource.ts'
import { outputSchema } from '../resource/schemas.ts'
import { getEntity, type Store } from '../resource/store.ts'

/** The standard operations, after which what is remembered of the user is asked anew; and a user's own record. */
export function userOperations(
  db: Db,
  resource: Resource,
  { keys, bearers }: Pick<Authority, 'keys' | 'bearers'>,
): Operation[] {
  const store = { db, resource }
  const forget = (id: string) => {
    bearers.forget({ userId: Number(id) })
    keys.forgetUser(Number(id))
  }
  return [me(store), ...afterWrites([...crudOperations(store), ...metadataOperations(store)], forget)]
}

const me = (store: Store): Operation =>
  operation({
    id: 'users.me',
    method: 'GET',
    path: `${store.resource.path}/me`,
    summary: 'Get the user that the access token speaks for',
    access: { class: 'auth', level: 'execute' },
    bearer: true,
    success: { status: 200, description: 'The user', schema: outputSchema(store.resource) },
    async handle({ caller, scope }) {
      const { entity } = await getEntity(store, scope, String(bearerOf(caller).userId))
      return { body: entity }
    },
  })
