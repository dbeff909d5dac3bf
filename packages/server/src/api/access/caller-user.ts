// Who asks, as the rules of datasets see it.
import type { Db } from '../../kernel/db/db.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import type { Permissions } from './grants.ts'

/** The user of a token, or of a key of type `user`, as it was when the credential was last looked at. */
export type CallerUser = {
  readonly id: number
  readonly email: string
  readonly roles: readonly string[]
  /** Without `auth`, which is a credential. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** SQL: the `CallerUser` of a row of `svc.users`, called `u`. */
export const callerUserOf = raw(
  `jsonb_build_object('id', u.id, 'email', u.email, 'roles', to_jsonb(u.roles), 'metadata', u.metadata - 'auth')`,
)

/** What declared roles grant a user: their ACLs, and a text that is another when they grant something else. */
export type RoleGrants = { readonly permissions: readonly Permissions[]; readonly digest: string }

/** SQL: the `RoleGrants` of a row of `svc.users`, called `u`; null where its roles grant nothing. */
export const roleGrantsOf = raw(`(SELECT CASE WHEN count(*) > 0
    THEN jsonb_build_object('permissions', jsonb_agg(r.permissions), 'digest', md5(string_agg(r.power, ',' ORDER BY r.power))) END
  FROM svc.roles r WHERE r.application_id = u.application_id AND r.name = ANY(u.roles) AND r.power IS NOT NULL)`)

/** Undefined when the user is gone, or was disabled. */
export async function findCallerUser(db: Db, applicationId: string, id: number): Promise<CallerUser | undefined> {
  const [row] = await db.query<{ user: CallerUser }>(sql`
    SELECT ${callerUserOf} AS "user" FROM svc.users u
    WHERE u.id = ${id} AND u.application_id = ${applicationId}::uuid AND u.enabled`)
  return row?.user
}
