import Type from 'typebox'
import { denied, type Scope, scopeOf } from '../../api/access/acl.ts'
import { defaultKeyOf, guardedAuth, visibleMetadata } from '../../api/access/secrets/auth-metadata.ts'
import { openOneTimeToken } from '../../api/access/secrets/one-time-token.ts'
import { checkNewPassword, type Passwords } from '../../api/access/secrets/passwords.ts'
import {
  demandPowerOfRoles,
  demandTokenPower,
  rowColumns,
  standsForMore,
  type TokenHolder,
} from '../../api/access/secrets/token-power.ts'
import { emailSchema } from '../../api/http/email-address.ts'
import { type MetadataGuard, withGuardedMetadata } from '../../api/resource/documents/guarded-metadata.ts'
import type { Removal } from '../../api/resource/removal.ts'
import { type BaseServices, defineResource, type Entity, field } from '../../api/resource/resource.ts'
import { userIdentity } from '../../api/resource/user-id.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { type ApiError, invalid } from '../../kernel/errors.ts'

type RecordServices = BaseServices & { readonly passwords: Passwords }

const nameSchema = Type.String({ maxLength: 255 })
const tokenNote = 'Only for those who may change this user and its password; empty for everybody else'

const tokenField = (column: 'verification_token' | 'password_reset_token') =>
  field('string', Type.String({ description: tokenNote }), {
    mode: 'readOnly',
    queryable: false,
    isSecret: true,
    column,
    read: (row, secrets) => openOneTimeToken(secrets, column, row.id, row[column]),
  })

export const guardMetadata: MetadataGuard<BaseServices> = async (change, scope, { db }) => {
  const metadata = await guardedAuth(db, change, scope)
  if (!change.isNew && defaultKeyOf(change.before) !== defaultKeyOf(metadata)) {
    await demandTokenPower(db, scope, change.applicationId, [{ metadata: change.before }, { metadata }])
  }
  return metadata
}

/** Deleting a user disables it for good, so it demands the same power as a change of who can log in. */
export const userRemoval: Removal = {
  async prepare({ entity, scope }, { db }) {
    await demandTokenPower(db, scope, String(entity.applicationId), [holderOf(entity)])
    return undefined
  },
}

/** The people of an application. Their password is kept as a hash, their one-time tokens hashed and sealed. */
export const user = defineResource<RecordServices>({
  name: 'users',
  title: 'User',
  path: '/api/v1/auth/users',
  acl: 'users',
  identity: userIdentity,
  ownerColumn: 'id',
  writeFailures: [429],
  example: {
    email: 'ada@example.org',
    firstName: 'Ada',
    lastName: 'Lovelace',
    password: 'nine Bernoulli numbers',
    roles: ['editor'],
    emailVerified: true,
  },
  fields: {
    email: field('string', emailSchema, { required: true, foldedColumn: 'email_key' }),
    firstName: field('string', nameSchema, { default: '', isKeptOnReplace: true }),
    lastName: field('string', nameSchema, { default: '', isKeptOnReplace: true }),
    password: field('string', Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()]), { mode: 'writeOnly' }),
    roles: field('array', Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1_000 }), {
      default: [],
      isKeptOnReplace: true,
    }),
    // Users who sign up must still confirm their address, and are not created by this resource.
    emailVerified: field('boolean', Type.Boolean(), { default: true, isKeptOnReplace: true }),
    enabled: field('boolean', Type.Boolean(), { default: true, isKeptOnReplace: true }),
    // Users set it up themselves: see auth.secondfactor.start.
    secondFactor: field('boolean', Type.Boolean(), { default: false, isKeptOnReplace: true }),
    verificationToken: tokenField('verification_token'),
    passwordResetToken: tokenField('password_reset_token'),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async view(scope, { db }) {
    const canWrite = sql`(${writableBy(scope)} AND NOT ${await standsForMore(db, scope, rowColumns)})`
    const shown = (token: Sql) => sql`(CASE WHEN ${token} IS NULL THEN NULL WHEN ${canWrite} THEN ${token} END)`
    return {
      columns: {
        metadata: await visibleMetadata(db, 'users', scope),
        verification_token: shown(raw('verification_token')),
        password_reset_token: shown(raw('password_reset_token')),
      },
    }
  },
  async prepare(draft, scope, services) {
    const { db, passwords } = services
    const { previous, applicationId, leaving } = draft
    const values = await withGuardedMetadata(draft, (change) => guardMetadata(change, scope, services))
    if (values.secondFactor === true && previous?.secondFactor !== true) throw notByOthers()
    if (!previous && scope.ownerId !== null) throw denied('A key of type user cannot create users.')
    if (!previous || changesSignIn(values, previous)) {
      const holders = [values, previous]
        .filter((one) => one?.metadata !== undefined)
        .map((one) => holderOf({ ...previous, ...one }))
      await demandTokenPower(db, scope, applicationId, holders)
    }
    await demandPowerOfRoles(db, scope, applicationId, changedRoles(values, previous))
    if (typeof values.password !== 'string') return values
    checkNewPassword(values.password, 'body/password')
    return { ...values, password: await passwords.hash(applicationId, values.password, leaving()) }
  },
})

const holderOf = ({ metadata, roles }: Entity): TokenHolder => ({
  metadata: metadata as Entity,
  roles: (roles ?? []) as string[],
})

/** The names that are given or taken. */
function changedRoles({ roles }: Entity, previous: Entity | undefined): string[] {
  if (roles === undefined) return []
  return [...new Set(roles as string[]).symmetricDifference(new Set((previous?.roles ?? []) as string[]))]
}

const notByOthers = (): ApiError =>
  invalid('body/secondFactor', 'can only be set to false: users set up their second factor themselves')

/** Does the change affect who can log in? A given password always counts as new, because the old one is only a hash. */
const changesSignIn = (values: Entity, previous: Entity): boolean =>
  values.password !== undefined ||
  ['email', 'emailVerified', 'enabled', 'secondFactor'].some(
    (name) => values[name] !== undefined && values[name] !== previous[name],
  )

/** One-time tokens are shown to callers who could set the password anyway. */
function writableBy({ caller }: Scope): Sql {
  const scope = scopeOf(caller, 'users', 'write')
  if (!scope) return raw('FALSE')
  const own = scope.ownerId === null ? raw('TRUE') : sql`users.id = ${scope.ownerId}`
  if (scope.ids === 'any') return own
  const ids = scope.ids.map(userIdentity.key).filter((id) => id !== undefined)
  return sql`(${own} AND users.id = ANY(${ids}::bigint[]))`
}
