import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../../kernel/db/db.ts'
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { type Caller, denied, includesPower, type Power, type Scope } from '../acl.ts'
import { isUuid } from '../credentials.ts'
import { credentialHash } from './secrets.ts'

/*
 * `metadata.auth` of a user or an application names the key that access tokens are exchanged for. So it is a credential:
 * it is seen and written by those who gain nothing by that key, and by no bearer of a token.
 */

export type Metadata = Readonly<Record<string, unknown>>

/** SQL for the metadata that this caller may see: without `auth` where that names a key with more power. */
export async function visibleMetadata(db: Db, table: 'users' | 'applications', scope: Scope): Promise<Sql> {
  const metadata = ident(table, 'metadata')
  if (scope.caller.bearer) return sql`(${metadata} - 'auth')`
  const lesser = await lesserPowers(db, scope)
  if (lesser === 'all') return metadata
  return sql`(CASE WHEN EXISTS (
      SELECT FROM svc.apikeys k
      WHERE k.hash = sha256(convert_to(lower(${metadata} #>> '{auth,defaultApiKey}'), 'UTF8'))
        AND k.power <> ALL(${lesser}::text[]))
    THEN ${metadata} - 'auth' ELSE ${metadata} END)`
}

/** The powers, as the columns `power` have them, of the keys and roles that can do no more than the caller. */
export async function lesserPowers(
  db: Db,
  { caller, applicationId }: Pick<Scope, 'caller' | 'applicationId'>,
): Promise<'all' | string[]> {
  if (includesPower(caller, everything)) return 'all'
  const tenant = applicationId === 'any' ? raw('TRUE') : sql`application_id = ${applicationId}::uuid`
  const powers = await db.query<Power & { power: string }>(sql`
    SELECT DISTINCT power, ${powerColumns} FROM svc.apikeys WHERE ${tenant}
    UNION
    SELECT power, 'app', application_id, permissions, NULL, NULL, NULL FROM svc.roles WHERE power IS NOT NULL AND ${tenant}`)
  return powers.filter((power) => includesPower(caller, power)).map(({ power }) => power)
}

const powerColumns = raw(`type, application_id AS "applicationId", permissions, user_id AS "userId",
  expires_at AS "expiresAt", allowed_origins AS "allowedOrigins"`)

const everything: Power = {
  type: 'master',
  applicationId: '',
  permissions: { '*': { '*': '*' } },
  userId: null,
  expiresAt: null,
  allowedOrigins: null,
}

type Change = {
  readonly before: Metadata
  readonly after: Metadata
  readonly applicationId: string
  /** The keys that the request names. They are checked even if nothing changes, or a guess of `auth` could be confirmed. */
  readonly named: readonly string[]
}

/** The metadata to store. A caller who cannot see `auth` keeps it; one who names a key must be able to do all that it can. */
export async function guardedAuth(
  db: Db,
  { before, after, applicationId, named }: Change,
  { caller }: Scope,
): Promise<Record<string, unknown>> {
  if (!named.includes('auth') && isDeepStrictEqual(before.auth, after.auth)) return after
  const isSeen = !caller.bearer && (await gainsNothing(db, caller, defaultKeyOf(before)))
  if (!isSeen && after.auth === undefined) return { ...after, auth: before.auth }
  if (!isSeen) throw denied('To write metadata.auth, use a key that can do all that the default key in it can.')
  if (defaultKeyOf(after) !== defaultKeyOf(before))
    await checkDefaultKey(db, caller, defaultKeyOf(after), applicationId)
  return after
}

async function checkDefaultKey(db: Db, caller: Caller, id: unknown, applicationId: string): Promise<void> {
  if (id === undefined || id === null) return
  const key = await findPower(db, id)
  if (key?.applicationId !== applicationId || key.type === 'master') {
    throw invalid('body/metadata/auth/defaultApiKey', 'must be a live key of this application, of type app or user')
  }
  if (!includesPower(caller, key))
    throw denied('The default key must not be able to do more than the key that sets it.')
}

async function gainsNothing(db: Db, caller: Caller, id: unknown): Promise<boolean> {
  const key = await findPower(db, id)
  return !key || includesPower(caller, key)
}

async function findPower(db: Db, id: unknown): Promise<Power | undefined> {
  if (typeof id !== 'string' || !isUuid(id)) return undefined
  const hash = credentialHash(id.toLowerCase())
  const [power] = await db.query<Power>(sql`SELECT ${powerColumns} FROM svc.apikeys WHERE hash = ${hash}`)
  return power
}

export function defaultKeyOf({ auth }: Metadata): unknown {
  return typeof auth === 'object' && auth !== null && 'defaultApiKey' in auth ? auth.defaultApiKey : undefined
}
