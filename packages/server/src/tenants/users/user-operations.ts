import { bearerOf } from '../../api/access/acl.ts'
import type { BearerCache } from '../../api/access/bearer-cache.ts'
import type { KeyCache } from '../../api/access/key-cache.ts'
import type { Passwords } from '../../api/access/secrets/passwords.ts'
import { afterWrites } from '../../api/http/after-writes.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { guardedWriter } from '../../api/resource/documents/guarded-metadata.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { getEntity } from '../../api/resource/store.ts'
import { guardMetadata, user, userRemoval } from './user.ts'

export type UserServices = BaseServices & {
  readonly passwords: Passwords
  readonly keys: KeyCache
  readonly bearers: BearerCache
}

const me = operationUsing<UserServices>()({
  id: 'users.me',
  method: 'GET',
  path: `${user.path}/me`,
  summary: 'Get the user that the access token speaks for',
  audit: 'ifSecret',
  access: { class: 'auth', level: 'execute' },
  bearer: true,
  success: { status: 200, description: 'The user', schema: outputSchema(user) },
  async handle({ caller, scope, services }) {
    const { entity } = await getEntity({ resource: user, services }, scope, String(bearerOf(caller).userId))
    return { body: entity }
  },
})

const standard = standardOperations<UserServices>(user, {
  removal: userRemoval,
  metadata: guardedWriter(guardMetadata, ['auth']),
})

/** The standard operations with cache invalidation, and a user's own record. */
export const userOperations: readonly Operation<UserServices>[] = [
  me,
  ...afterWrites(standard, (id, { keys, bearers }) => {
    bearers.forget({ userId: Number(id) })
    keys.forgetUser(Number(id))
  }),
]
