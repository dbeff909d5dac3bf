import type { Queryable } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'

/** An account: the fields of a user that signing in needs. */
export type Account = {
  readonly id: number
  readonly applicationId: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly password: string | null
  readonly pendingPassword: string | null
  readonly emailVerified: boolean
  readonly enabled: boolean
  readonly secondFactor: boolean
  readonly roles: readonly string[]
  /** Sealed. It may wait for its first code. */
  readonly codeSecret: string | null
  /** It signs in by a provider: without a password it gets none by mail. */
  readonly isOfProvider: boolean
}

const selectAccount = sql`
  SELECT id, application_id AS "applicationId", email, first_name AS "firstName", last_name AS "lastName", password,
         pending_password AS "pendingPassword", email_verified AS "emailVerified", enabled, second_factor AS "secondFactor", roles, code_secret AS "codeSecret",
         EXISTS (SELECT FROM svc.identities i WHERE i.application_id = users.application_id AND i.user_id = users.id) AS "isOfProvider"
  FROM svc.users`

export const findAccount = (db: Queryable, applicationId: string, email: string): Promise<Account | undefined> =>
  first(
    db,
    sql`${selectAccount} WHERE application_id = ${applicationId}::uuid AND email_key = lower(${email} COLLATE "C")`,
  )

export const accountById = (db: Queryable, applicationId: string, id: number): Promise<Account | undefined> =>
  first(db, sql`${selectAccount} WHERE application_id = ${applicationId}::uuid AND id = ${id}`)

const first = async (db: Queryable, query: Sql): Promise<Account | undefined> => (await db.query<Account>(query))[0]

/** The settings of an application for sign-up, redirects and the second factor. */
export type AuthSettings = {
  readonly signup?: { readonly enabled?: unknown; readonly allow?: unknown }
  readonly redirectUrls?: unknown
  /** `required`: nobody logs in without. */
  readonly secondFactor?: unknown
}

/** Undefined when there is no such application. */
export async function findSettings(db: Queryable, applicationId: string): Promise<AuthSettings | undefined> {
  const [row] = await db.query<{ auth: unknown }>(
    sql`SELECT metadata -> 'auth' AS auth FROM svc.applications WHERE id = ${applicationId}::uuid`,
  )
  if (!row) return undefined
  return typeof row.auth === 'object' && row.auth !== null ? row.auth : {}
}

/** One message for all invalid credentials, so that none is revealed. */
export const refused = (): ApiError => new ApiError('unauthorized', 'The credentials are not valid, or have expired.')
