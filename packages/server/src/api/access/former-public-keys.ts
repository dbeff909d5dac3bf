// Counts the public keys that earlier versions made, which may do more than pages need.
import type { Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { isFormerPublic } from './first-permissions.ts'
import type { Permissions } from './grants.ts'

/** How many such keys an application has. */
export type FormerPublicKeys = { readonly application: string; readonly id: string; readonly count: number }

/** By application, the default one first. Keys that have expired do not count. */
export async function countFormerPublicKeys(db: Pick<Queryable, 'query'>): Promise<FormerPublicKeys[]> {
  const keys = await db.query<FormerPublicKeys & { permissions: Permissions }>(sql`
    SELECT a.name AS application, a.id::text AS id, k.permissions, count(*)::int4 AS count
    FROM svc.apikeys k JOIN svc.applications a ON a.id = k.application_id
    WHERE k.type = 'app' AND jsonb_exists(k.permissions, '*') AND (k.expires_at IS NULL OR k.expires_at > now())
    GROUP BY a.is_default, a.name, a.id, k.permissions ORDER BY a.is_default DESC, a.name, a.id`)
  const counts = new Map<string, FormerPublicKeys>()
  for (const { application, id, permissions, count } of keys) {
    if (isFormerPublic(permissions)) counts.set(id, { application, id, count: count + (counts.get(id)?.count ?? 0) })
  }
  return [...counts.values()]
}
