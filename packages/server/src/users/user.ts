import Type from 'typebox'
import { denied, type Scope, scopeOf } from '../access/acl.ts'
import { defaultKeyOf, guardedAuth, visibleMetadata } from '../access/auth-metadata.ts'
import { openOneTimeToken } from '../access/one-time-token.ts'
import { checkNewPassword, type Passwords } from '../access/passwords.ts'
import type { Secrets } from '../access/secrets.ts'
import { demandTokenPower, rowPlace, standsForMore } from '../access/token-power.ts'
import type { Db } from '../db/db.ts'
import { raw, type Sql, sql } from '../db/sql.ts'
import { emailSchema } from '../http/email.ts'
import { defineResource, type Entity, field, type Resource } from '../resource/resource.ts'
import { userIdentity } from '../resource/user-id.ts'

export type UserParts = { db: Db; secrets: Secrets; passwords: Passwords; applications: () => Resource }

const nameSchema = Type.String({ maxLength: 255 })
const tokenNote = 'Only for those who may change this user and its password; empty for everybody else'

/** The people of an application. Their password is kept as a hash, their one-time tokens hashed and sealed. */
export const users = ({ db, secrets, passwords, applications }: UserParts): Resource =>
  defineResource({
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
      firstName: field('string', nameSchema, { default: '', isKept: true }),
      lastName: field('string', nameSchema, { default: '', isKept: true }),
      password: field('string', Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()]), { mode: 'writeOnly' }),
      roles: field('array', Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1_000 }), {
        default: [],
        isKept: true,
      }),
      // Whoever signs up has still to confirm it, and is not made by this resource.
      emailVerified: field('boolean', Type.Boolean(), { default: true, isKept: true }),
      enabled: field('boolean', Type.Boolean(), { default: true, isKept: true }),
      verificationToken: tokenField(secrets, 'verification_token'),
      passwordResetToken: tokenField(secrets, 'password_reset_token'),
    },
    joins: { application: { one: applications, field: 'applicationId' } },
    async views(scope) {
      const canWrite = sql`(${writableBy(scope)} AND NOT ${await standsForMore(db, scope, rowPlace)})`
      const shown = (token: Sql) => sql`(CASE WHEN ${token} IS NULL THEN NULL WHEN ${canWrite} THEN ${token} END)`
      return {
        metadata: await visibleMetadata(db, 'users', scope),
        verification_token: shown(raw('verification_token')),
        password_reset_token: shown(raw('password_reset_token')),
      }
    },
    async guardMetadata(change, scope) {
      const metadata = await guardedAuth(db, change, scope)
      if (!change.isNew && defaultKeyOf(change.before) !== defaultKeyOf(metadata)) {
        await demandTokenPower(db, scope, change.applicationId, [change.before, metadata])
      }
      return metadata
    },
    mergedMetadata: ['auth'],
    // Deleted is disabled for good.
    checkRemoval: ({ applicationId, metadata }, scope) =>
      demandTokenPower(db, scope, String(applicationId), [metadata as Entity]),
    async prepare({ values, previous, applicationId, leaving }, scope) {
      if (!previous && scope.ownerId !== null) throw denied('A key of type user cannot create users.')
      if (!previous || changesSignIn(values, previous)) {
        const metadata = [values.metadata, previous?.metadata].filter((one) => one !== undefined)
        await demandTokenPower(db, scope, applicationId, metadata as Entity[])
      }
      if (typeof values.password !== 'string') return values
      checkNewPassword(values.password, 'body/password')
      return { ...values, password: await passwords.hash(values.password, leaving()) }
    },
  })

const tokenField = (secrets: Secrets, column: 'verification_token' | 'password_reset_token') =>
  field('string', Type.String({ description: tokenNote }), {
    mode: 'readOnly',
    queryable: false,
    column,
    read: (row) => openOneTimeToken(secrets, column, row.id, row[column]),
  })

/** What decides who can log in as a user. A password that is given counts as another one: the old one is not known. */
const changesSignIn = (values: Entity, previous: Entity): boolean =>
  values.password !== undefined ||
  ['email', 'emailVerified', 'enabled'].some((name) => values[name] !== undefined && values[name] !== previous[name])

/** Whoever may change a user could set the password, and so gains nothing by the tokens. */
function writableBy({ caller }: Scope): Sql {
  const scope = scopeOf(caller, 'users', 'write')
  if (!scope) return raw('FALSE')
  const own = scope.ownerId === null ? raw('TRUE') : sql`users.id = ${scope.ownerId}`
  if (scope.ids === 'any') return own
  const ids = scope.ids.map(userIdentity.key).filter((id) => id !== undefined)
  return sql`(${own} AND users.id = ANY(${ids}::bigint[]))`
}
