/** Whether roles of applications can log in, which pg_hba.conf may refuse though it lets the server's own role in. */
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { connectPlatform } from '../../kernel/db/connect-platform.ts'
import { codeOf } from '../../kernel/db/database-error.ts'
import type { Db } from '../../kernel/db/db.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { asRole, type PlatformServer } from '../../kernel/libpq/platform-server.ts'

/** Refused by pg_hba.conf or by the role's attributes, by the password, or by a right on the database. */
const refusals = /^(28|42501)/

/**
 * Logs in as the default application's role, as its queries do. Throws what says nothing of the role, such as a lost connection; false
 * if it is refused.
 */
export async function canTenantsLogIn(db: Db, secrets: Secrets, platform: PlatformServer): Promise<boolean> {
  const [application] = await db.query<{ id: string }>(
    raw('SELECT id FROM svc.applications ORDER BY is_default DESC, created_at LIMIT 1'),
  )
  if (!application) return true
  const password = secrets.derive(`tenant ${application.id}`)
  try {
    const [row] = await db.query<{ role: string }>(
      sql`SELECT svc.open_tenant(${application.id}::uuid, ${password}) AS role`,
    )
    const client = await connectPlatform(asRole(platform, row?.role ?? '', password), { application_name: 'graticule' })
    await client.end()
    return true
  } catch (error) {
    if (refusals.test(codeOf(error))) return false
    throw error
  }
}
