import { randomUUID } from 'node:crypto'
import Type, { type TSchema } from 'typebox'
import { denied, excessOf, keyTypes, type Power, type Scope } from '../../api/access/acl.ts'
import { fingerprintOf } from '../../api/access/audit-trail.ts'
import { isUuid } from '../../api/access/credentials.ts'
import { publicPermissions } from '../../api/access/first-permissions.ts'
import type { Permissions } from '../../api/access/grants.ts'
import type { KeyCache } from '../../api/access/key-cache.ts'
import { permissionsSchema, readPermissions } from '../../api/access/permissions.ts'
import { lesserPowers } from '../../api/access/secrets/auth-metadata.ts'
import { credentialHash } from '../../api/access/secrets/secrets.ts'
import { demandPowerOfUser, demandPowerWithout } from '../../api/access/secrets/token-power.ts'
import { afterWrites } from '../../api/http/after-writes.ts'
import { dateTimeText } from '../../api/http/input/bounded-schemas.ts'
import type { Operation } from '../../api/http/operation.ts'
import type { Removal } from '../../api/resource/removal.ts'
import {
  type BaseServices,
  defineResource,
  type Entity,
  field,
  type IdentityField,
} from '../../api/resource/resource.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { readUserReference, userReference } from '../../api/resource/user-id.ts'
import type { Db } from '../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'
import { shortList } from '../../kernel/nearest-name.ts'
import { openKey, sealKey } from './sealed-key.ts'

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const originSchema = Type.String({
  pattern: '^https?://[^/]+$',
  maxLength: 255,
  examples: ['https://maps.example.org'],
})

const sealedIdentity: IdentityField = {
  schema: Type.String({ format: 'uuid', description: 'The key itself: whoever knows it can use it' }),
  type: 'uuid',
  column: 'hash',
  sqlType: 'bytea',
  columns: ['hash', 'secret'],
  queryable: false,
  generate: (secrets) => sealKey(secrets, randomUUID()),
  key: (id) => (isUuid(id) ? credentialHash(id.toLowerCase()) : undefined),
  read: (row, secrets) => openKey(secrets, row),
}

/**
 * The resource of API keys. Their id is the credential, so it is stored encrypted, and shown only to callers who can already
 * do all that the key can.
 */
export const apiKey = defineResource({
  name: 'apikeys',
  title: 'ApiKey',
  acl: 'apikeys',
  identity: sealedIdentity,
  ownerColumn: 'user_id',
  verbs: ['list', 'create', 'get', 'delete'],
  example: { description: 'For the web page', type: 'app', permissions: publicPermissions },
  fields: {
    description: field('string', Type.String({ maxLength: 10_000 }), { mode: 'createOnly', default: '' }),
    type: field('string', Type.Enum([...keyTypes]), { mode: 'createOnly', required: true }),
    permissions: field('json', permissionsSchema, { mode: 'createOnly', required: true, queryable: false }),
    userId: userReference('createOnly'),
    expiresAt: field('datetime', nullable(dateTimeText()), { mode: 'createOnly' }),
    allowedOrigins: field('array', nullable(Type.Array(originSchema, { minItems: 1, maxItems: 100 })), {
      mode: 'createOnly',
      queryable: false,
    }),
    fingerprint: field('string', Type.String({ description: 'The first digits of its SHA-256, as in the audit log' }), {
      mode: 'readOnly',
      queryable: false,
      column: 'hash',
      read: ({ hash }) => fingerprintOf(hash as Uint8Array),
    }),
    lastUsedAt: field('datetime', nullable(Type.String({ format: 'date-time' })), { mode: 'readOnly' }),
  },
  joins: {
    application: { one: 'Application', field: 'applicationId' },
    user: { one: 'User', field: 'userId' },
  },
  view: async (scope, { db }) => ({ where: await lesserKeys(db, scope) }),
  async prepare({ values, applicationId }, scope, { db }) {
    const userId = readUserReference(values.userId, 'body/userId', scope)
    // A key of type user acts as the user, like the user's tokens.
    const isOwnUser = userId === scope.ownerId || userId === scope.caller.bearer?.userId
    if (userId !== null && !isOwnUser) await demandPowerOfUser(db, scope, userId)
    const power = readPower({ ...values, userId }, applicationId)
    const excess = excessOf(scope.caller, power)
    if (excess) throw denied(refusals[excess](scope.caller))
    // PostgreSQL does not read every zone that RFC 3339 can write.
    return { ...values, userId, expiresAt: power.expiresAt?.toISOString() ?? null }
  },
})

const grantsMore = (): string => 'A key can only create keys that grant no more than it grants itself.'
const refusals: Readonly<Record<NonNullable<ReturnType<typeof excessOf>>, (minter: Power) => string>> = {
  reach: grantsMore,
  permissions: grantsMore,
  life: ({ expiresAt }) =>
    `A key cannot outlive the key or token that creates it: give expiresAt, at the latest ${expiresAt?.toISOString()}.`,
  origins: ({ allowedOrigins }) =>
    `A key cannot be used from more origins than the key that creates it: give allowedOrigins, of ${shortList(allowedOrigins ?? [])}.`,
}

const removal: Removal = {
  async prepare({ entity: { id }, scope }, { db }) {
    await demandPowerWithout(db, scope, credentialHash(String(id)))
    return undefined
  },
}

export type ApiKeyServices = BaseServices & { readonly keys: KeyCache }

/** The standard operations with cache invalidation, so that a deleted key is refused at once. */
export const apiKeyOperations: readonly Operation<ApiKeyServices>[] = afterWrites(
  standardOperations<ApiKeyServices>(apiKey, { removal }),
  (id, { keys }) => keys.forget(id),
).map((operation) => ({ ...operation, secretPath: true }))

/** The keys that can do no more than the caller; others are hidden from it. */
async function lesserKeys(db: Db, scope: Scope): Promise<Sql> {
  const lesser = await lesserPowers(db, scope)
  return lesser === 'all' ? raw('TRUE') : sql`power = ANY(${lesser}::text[])`
}

function readPower(values: Entity, applicationId: string): Power {
  const power: Power = {
    type: values.type as Power['type'],
    applicationId,
    permissions: readPermissions(values.permissions as Permissions),
    userId: values.userId as number | null,
    expiresAt: values.expiresAt === null ? null : new Date(String(values.expiresAt)),
    allowedOrigins: values.allowedOrigins as string[] | null,
  }
  if ((power.type === 'user') !== (power.userId !== null)) {
    throw invalid('body/userId', 'is required for a key of type user, and allowed for no other type')
  }
  // A leap second is no Date, and a zone can lead beyond the last year that RFC 3339 can write.
  if (power.expiresAt && !(power.expiresAt.getUTCFullYear() <= 9999))
    throw invalid('body/expiresAt', 'must be a date-time such as 2027-01-31T12:00:00Z')
  if (power.expiresAt && power.expiresAt <= new Date()) throw invalid('body/expiresAt', 'must be in the future')
  return power
}
