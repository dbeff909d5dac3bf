/**
 * Gives what superusers own of the platform to the server's role: the schema svc and those of tenants with all that is in them, and the
 * right to change tenants' roles. Earlier versions left it with whoever ran the migrations.
 */
import type { Db, Queryable } from '../db.ts'
import { quoted, raw, sql } from '../sql.ts'
import { hardeningText } from './hardening.ts'

/** A transaction that waits for locks only a little, and is tried again. */
type Attempt = (name: string, work: (tx: Queryable) => Promise<void>) => Promise<void>

/** One transaction for each schema, so that tables are locked for a moment only. */
export async function handOver(db: Db, role: string, attempt: Attempt): Promise<void> {
  const schemas = await db.query<{ name: string }>(
    raw(
      `SELECT nspname::text AS name FROM pg_namespace WHERE nspname = 'svc' OR nspname ~ '^app_[0-9a-f]{32}$' ORDER BY 1 DESC`,
    ),
  )
  for (const { name } of schemas) {
    const statements = await statementsOf(db, name, role)
    if (statements.length === 0) continue
    await attempt(`hand-over of the schema ${name}`, async (tx) => {
      for (const statement of await statementsOf(tx, name, role)) await tx.script(statement)
    })
  }
  const [state] = await db.query(
    raw(`SELECT has_table_privilege('public', 'pg_catalog.pg_class', 'SELECT') AS "isOpen"`),
  )
  // What was closed is granted by name, perhaps to the owner before.
  if (state?.isOpen === false) await db.script(hardeningText)
}

async function statementsOf(db: Pick<Queryable, 'query'>, schema: string, role: string): Promise<string[]> {
  const rows = await db.query<{ statement: string }>(sql`
    WITH superusers AS (SELECT oid FROM pg_roles WHERE rolsuper),
      schema AS (SELECT * FROM pg_namespace WHERE nspname = ${schema}),
      members AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'),
      -- Sequences of columns go with their tables.
      parts AS (SELECT objid FROM pg_depend WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass
        AND deptype IN ('a', 'i') AND refobjsubid > 0),
      owned (kind, name) AS (
        SELECT 'SCHEMA', format('%I', nspname) FROM schema WHERE nspowner IN (TABLE superusers)
        UNION ALL
        SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'c' THEN 'TYPE'
          WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, c.oid::regclass::text
        FROM pg_class c JOIN schema n ON n.oid = c.relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'c', 'S') AND relowner IN (TABLE superusers) AND c.oid NOT IN (TABLE parts)
          AND ('pg_class'::regclass, c.oid) NOT IN (TABLE members)
        UNION ALL
        SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p JOIN schema n ON n.oid = p.pronamespace
        WHERE proowner IN (TABLE superusers) AND ('pg_proc'::regclass, p.oid) NOT IN (TABLE members)
        UNION ALL
        SELECT 'TYPE', t.oid::regtype::text FROM pg_type t JOIN schema n ON n.oid = t.typnamespace
        WHERE typtype IN ('d', 'e', 'r') AND typowner IN (TABLE superusers) AND ('pg_type'::regclass, t.oid) NOT IN (TABLE members)
        UNION ALL
        SELECT 'STATISTICS', format('%I.%I', nspname, stxname) FROM pg_statistic_ext s JOIN schema n ON n.oid = s.stxnamespace
        WHERE stxowner IN (TABLE superusers)
        UNION ALL
        SELECT 'COLLATION', format('%I.%I', nspname, collname) FROM pg_collation c JOIN schema n ON n.oid = c.collnamespace
        WHERE collowner IN (TABLE superusers))
    SELECT format('ALTER %s %s OWNER TO %I', kind, name, ${role}::text) AS statement FROM owned`)
  return [...rows.map(({ statement }) => statement), ...(await tenantStatements(db, schema, role))]
}

/** What svc.create_tenant leaves to the role that calls it. PostgreSQL 15 lets whoever may create roles change all of them. */
async function tenantStatements(db: Pick<Queryable, 'query'>, schema: string, role: string): Promise<string[]> {
  const [tenant] = await db.query<{ isRuled: boolean; hasDefaults: boolean }>(sql`
    SELECT current_setting('server_version_num')::int4 < 160000 OR EXISTS (
        SELECT FROM pg_auth_members m WHERE m.roleid = r.oid AND m.member = s.oid AND m.admin_option) AS "isRuled",
      EXISTS (SELECT FROM pg_default_acl d JOIN pg_namespace n ON n.oid = d.defaclnamespace
        WHERE n.nspname = ${schema} AND d.defaclrole = s.oid AND d.defaclobjtype = 'r') AS "hasDefaults"
    FROM pg_roles r CROSS JOIN pg_roles s WHERE r.rolname = ${schema} AND s.rolname = ${role}`)
  if (!tenant) return []
  const [tenantRole, server] = [quoted(schema), quoted(role)]
  const member = `GRANT ${tenantRole} TO ${server} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`
  const defaults = `ALTER DEFAULT PRIVILEGES FOR ROLE ${server} IN SCHEMA ${tenantRole} GRANT SELECT ON TABLES TO ${tenantRole}`
  return [...(tenant.isRuled ? [] : [member]), ...(tenant.hasDefaults ? [] : [defaults])]
}
