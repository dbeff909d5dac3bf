import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { createSecrets } from '../../../api/access/secrets/secrets.ts'
import { tenantSchema } from '../../../data/databases/tenant-schema.ts'
import { connectPlatform } from '../../../kernel/db/connect-platform.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import { asRole } from '../../../kernel/libpq/platform-server.ts'
import type { Config } from '../../../kernel/settings/config.ts'
import { type Check, fault, hbaLine, isPostgres, messageOf, ok } from '../check.ts'

/** What the roles of PostgreSQL may do: that of the server enough, those of tenants little. */
export const roleChecks: readonly Check[] = [
  {
    name: 'role',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client.query(`
        SELECT current_user AS name, current_database() AS database, rolsuper AS "isSuper", rolcreaterole AS "createsRoles",
          has_database_privilege(current_database(), 'CREATE') AS "mayCreate"
        FROM pg_roles WHERE rolname = current_user`)
      const { name, database: place, isSuper, createsRoles, mayCreate } = rows[0]
      if (!isSuper && !createsRoles) {
        return fault(
          `The role ${name} may not create roles, and each application needs one.`,
          `As a superuser: ALTER ROLE "${name}" CREATEROLE;`,
        )
      }
      if (!mayCreate) {
        return fault(
          `The role ${name} may not create schemas, and each application needs one.`,
          `As a superuser: GRANT CREATE ON DATABASE "${place}" TO "${name}";`,
        )
      }
      return ok(`The role ${name} may create roles and schemas.`)
    },
  },
  {
    name: 'tenant login',
    applies: isPostgres,
    async run({ database, config }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client
        .query(`
          SELECT a.id FROM svc.applications a JOIN pg_roles r ON r.rolname = 'app_' || replace(a.id::text, '-', '')
          WHERE r.rolcanlogin ORDER BY a.created_at LIMIT 1`)
        .catch(() => ({ rows: [] }))
      const [row] = rows as { id: string }[]
      if (!row) return []
      return tryLogin(config, row.id)
    },
  },
]

/** As the server itself does it for the queries of an application. */
async function tryLogin(config: Config, applicationId: string) {
  const secret =
    config.SECRET_KEY ?? (await readFile(join(config.DATA_DIR, 'secret.key'), 'utf8').catch(() => undefined))
  if (secret === undefined) return []
  const server = config.database
  if (!server) return []
  const role = tenantSchema(applicationId)
  let client: pg.Client | undefined
  try {
    const password = createSecrets(secret.trim()).derive(`tenant ${applicationId}`)
    client = await connectPlatform(asRole(server, role, password), { application_name: 'graticule doctor' })
    return ok('Roles of applications can log in.')
  } catch (error) {
    // The first query of the application sets the password.
    if (codeOf(error) === '28P01') return []
    return fault(
      `The role of an application cannot log in: ${messageOf(error)}`,
      `In pg_hba.conf, before lines that fit too: "${hbaLine(server, 'all')}" for this machine, and SELECT pg_reload_conf();`,
    )
  } finally {
    void client?.end().catch(() => {})
  }
}
