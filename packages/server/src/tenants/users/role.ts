import Type from 'typebox'
import { denied, excessOf, type Power, type Scope } from '../../api/access/acl.ts'
import type { BearerCache } from '../../api/access/bearer-cache.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { permissionsSchema, readPermissions } from '../../api/access/permissions.ts'
import { afterWrites } from '../../api/http/after-writes.ts'
import type { Operation } from '../../api/http/operation.ts'
import type { Removal } from '../../api/resource/removal.ts'
import { type BaseServices, defineResource, field } from '../../api/resource/resource.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'

/**
 * The resource of roles. Users have roles by name, also by names that are not declared. A declared role says what it is for, and may grant its
 * users more than the key behind their tokens does; so whoever writes one must be able to do all that it grants.
 */
export const role = defineResource({
  name: 'roles',
  title: 'Role',
  path: '/api/v1/auth/roles',
  acl: 'users',
  example: {
    name: 'surveyor',
    description: 'Adds and corrects parcels',
    permissions: { datasets: { execute: '*', append: '*' } },
  },
  fields: {
    name: field(
      'string',
      Type.String({ minLength: 1, maxLength: 255, description: 'As it stands in `roles` of users and of rules' }),
      { required: true },
    ),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    permissions: field(
      'json',
      Type.Union([permissionsSchema, Type.Null()], {
        description:
          'What access tokens of its users grant besides what the key behind them does, as the ACL of a key; null for nothing. A key that is ' +
          'sent with the token decides alone',
      }),
      { default: null, queryable: false },
    ),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values, previous, applicationId }, scope) {
    const { permissions } = values
    if (permissions) readPermissions(permissions as Permissions)
    for (const one of [previous?.permissions, permissions]) demandGrants(scope, applicationId, one)
    return values
  },
})

/** 401 unless the caller could make a key with these permissions that does not expire. */
function demandGrants({ caller }: Scope, applicationId: string, permissions: unknown): void {
  if (!permissions) return
  const power: Power = {
    type: 'app',
    applicationId,
    permissions: permissions as Permissions,
    userId: null,
    expiresAt: null,
    allowedOrigins: null,
  }
  // A user logs in again when the token ends, as in token-power.ts.
  if (excessOf({ ...caller, expiresAt: caller.keyExpiresAt }, power)) {
    throw denied(
      'Whoever writes a role must be able to do all that it grants: use a key that can do as much, and does not expire.',
    )
  }
}

const removal: Removal = {
  async prepare({ entity: { applicationId, permissions }, scope }) {
    demandGrants(scope, String(applicationId), permissions)
    return undefined
  },
}

export type RoleServices = BaseServices & { readonly bearers: BearerCache }

/** The standard operations; what a role grants is different at once. */
export const roleOperations: readonly Operation<RoleServices>[] = afterWrites(
  standardOperations<RoleServices>(role, { removal }),
  (_, { bearers }) => bearers.forget('everybody'),
)
