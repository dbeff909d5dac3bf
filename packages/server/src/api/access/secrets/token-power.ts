import type { Db } from '../../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { denied, type Scope } from '../acl.ts'
import { defaultKeyOf, lesserPowers, type Metadata } from './auth-metadata.ts'

/*
 * An access token stands for a key: the user's default key, else the application's; with what the user's roles grant besides. Whoever sets a
 * user's password or address, or reads the one-time tokens mailed to it, can log in as that user. So whoever does must be able to do all that
 * the key can and the roles grant, or `users` write would be worth as much as the greatest default key.
 */

/** SQL for the default keys of a user: the id of the user's own, and the application; and for the names of its roles. */
type TokenColumns = { readonly ownKey: Sql; readonly applicationId: Sql; readonly roles: Sql }

/** SQL: do the tokens of this user stand for a key that can do more than the caller? */
export async function standsForMore(
  db: Db,
  scope: Pick<Scope, 'caller' | 'applicationId'>,
  place: TokenColumns,
): Promise<Sql> {
  const lesser = await lesserThanKey(db, scope)
  if (lesser === 'all') return raw('FALSE')
  const { ownKey, applicationId, roles } = place
  const isGreater = sql`k.power <> ALL(${lesser}::text[])`
  // Behind a key that can end by itself, by time or with its user, stands the application's.
  const lasts = raw('k.expires_at IS NULL AND k.user_id IS NULL')
  return sql`(${exists(applicationId, ownKey, isGreater)} OR ${roleExists(applicationId, lesser, sql`r.name = ANY(${roles})`)} OR (NOT ${exists(applicationId, ownKey, lasts)}
    AND ${exists(applicationId, applicationsKey(applicationId), isGreater)}))`
}

/** Of a row in `users`. */
export const rowColumns: TokenColumns = {
  ownKey: raw("users.metadata #>> '{auth,defaultApiKey}'"),
  applicationId: raw('users.application_id'),
  roles: raw('users.roles'),
}

const applicationsKey = (id: Sql): Sql =>
  sql`(SELECT a.metadata #>> '{auth,defaultApiKey}' FROM svc.applications a WHERE a.id = ${id})`

/** The keys that tokens can stand for, also of users who could be enabled again. */
const exists = (applicationId: Sql, id: Sql, condition: Sql): Sql => sql`EXISTS (
  SELECT FROM svc.apikeys k WHERE k.hash = sha256(convert_to(lower(${id}), 'UTF8'))
    AND k.application_id = ${applicationId} AND k.type <> 'master'
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AND ${condition})`

/** A role of the application that grants more than the caller can do. */
const roleExists = (applicationId: Sql, lesser: readonly string[], condition: Sql): Sql => sql`EXISTS (
  SELECT FROM svc.roles r WHERE r.application_id = ${applicationId} AND r.power <> ALL(${[...lesser]}::text[]) AND ${condition})`

/** A user logs in again when the token ends, so a token's power lasts as long as its key. */
const lesserThanKey = (db: Db, { caller, applicationId }: Pick<Scope, 'caller' | 'applicationId'>) =>
  lesserPowers(db, { caller: { ...caller, expiresAt: caller.keyExpiresAt }, applicationId })

const tooWeak = () =>
  denied(
    'The access tokens of this user stand for a key that can do more than the caller’s: use a key that can do as much.',
  )

/** What decides what the tokens of a user stand for. */
export type TokenHolder = { readonly metadata: Metadata; readonly roles?: readonly string[] }

/** 401 unless the caller can do all that each of these users could with a token. */
export async function demandTokenPower(
  db: Db,
  scope: Scope,
  applicationId: string,
  holders: readonly TokenHolder[],
): Promise<void> {
  for (const { metadata, roles = [] } of holders) {
    const key = defaultKeyOf(metadata)
    const place = {
      ownKey: sql`${typeof key === 'string' ? key : null}::text`,
      applicationId: sql`${applicationId}::uuid`,
      roles: sql`${[...roles]}::text[]`,
    }
    const [row] = await db.query<{ isMore: boolean }>(sql`SELECT ${await standsForMore(db, scope, place)} AS "isMore"`)
    if (row?.isMore) throw tooWeak()
  }
}

/** 401 unless the caller can do all that these roles grant. Names that are not declared grant nothing. */
export async function demandPowerOfRoles(
  db: Db,
  scope: Scope,
  applicationId: string,
  names: readonly string[],
): Promise<void> {
  const lesser = names.length === 0 ? 'all' : await lesserThanKey(db, scope)
  if (lesser === 'all') return
  const isNamed = sql`r.name = ANY(${[...names]}::text[])`
  const [row] = await db.query<{ isMore: boolean }>(
    sql`SELECT ${roleExists(sql`${applicationId}::uuid`, lesser, isNamed)} AS "isMore"`,
  )
  if (row?.isMore) throw denied('One of these roles grants more than the caller can do: use a key that can do as much.')
}

/** 401 unless the caller can do all that this user could with a token; passes if there is no such user. */
export async function demandPowerOfUser(db: Db, scope: Scope, userId: number): Promise<void> {
  const tenant = scope.applicationId === 'any' ? raw('TRUE') : sql`application_id = ${scope.applicationId}::uuid`
  const isMore = await standsForMore(db, scope, rowColumns)
  const rows = await db.query(sql`SELECT FROM svc.users WHERE id = ${userId} AND ${tenant} AND ${isMore}`)
  if (rows.length > 0) throw tooWeak()
}

/** 401 unless the caller can do all that the users of an application with a default key of their own can, and all that roles grant. */
export async function demandPowerOfUsers(
  db: Db,
  scope: Scope,
  applicationId: string,
  what = 'metadata.auth',
): Promise<void> {
  const lesser = await lesserThanKey(db, scope)
  if (lesser === 'all') return
  const tenant = sql`${applicationId}::uuid`
  const isGreater = exists(tenant, rowColumns.ownKey, sql`k.power <> ALL(${lesser}::text[])`)
  const [row] = await db.query<{ ofKeys: boolean; ofRoles: boolean }>(sql`
    SELECT EXISTS (SELECT FROM svc.users WHERE application_id = ${tenant} AND ${isGreater}) AS "ofKeys",
           ${roleExists(tenant, lesser, raw('TRUE'))} AS "ofRoles"`)
  if (row?.ofKeys || row?.ofRoles) {
    const holder = row.ofKeys ? 'the default key of some users' : 'a role'
    throw denied(`This key may not write ${what}: ${holder} can do more than this key. Use a more powerful key.`)
  }
}

/** 401 if without this key tokens would stand for the application's, and that can do more than the caller. */
export async function demandPowerWithout(db: Db, scope: Scope, hash: Uint8Array): Promise<void> {
  const lesser = await lesserThanKey(db, scope)
  if (lesser === 'all') return
  const tenant = raw('gone.application_id')
  const isGreater = sql`k.power <> ALL(${lesser}::text[]) AND k.hash <> gone.hash`
  const rows = await db.query(sql`
    SELECT FROM svc.apikeys gone WHERE hash = ${hash}
      AND ${exists(tenant, applicationsKey(tenant), isGreater)}
      AND EXISTS (SELECT FROM svc.users WHERE users.application_id = gone.application_id
        AND sha256(convert_to(lower(${rowColumns.ownKey}), 'UTF8')) = gone.hash)`)
  if (rows.length > 0) {
    throw denied(
      'This key is the default key of users. Without it their tokens would get a key that can do more than this caller. Give them another default key first, or use a more powerful key.',
    )
  }
}
