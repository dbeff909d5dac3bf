// What a backup does not hold, so that nothing is lost silently.
import type { Queryable } from '../../kernel/db/db.ts'
import { joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { LeftOut } from './records.ts'
import { isUnfinished } from './tenant-catalog.ts'

const isExtensions = (catalog: string, oid: string): Sql =>
  raw(`EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.${catalog}'::regclass AND d.objid = ${oid}
    AND d.deptype = 'e')`)

const isTenants = raw(`n.nspname ~ '^app_[0-9a-f]{32}$'`)
const ofTenants = (relation: string): Sql =>
  sql`JOIN pg_catalog.pg_namespace n ON n.oid = ${raw(relation)}.relnamespace AND ${isTenants}`
const isKept = sql`NOT (${isUnfinished})`

/** Each answers `what` and `definition`. */
const searches: readonly Sql[] = [
  sql`SELECT CASE c.relkind WHEN 'v' THEN 'The view ' WHEN 'm' THEN 'The materialized view ' ELSE 'The foreign table ' END
      || c.oid::regclass AS what, CASE c.relkind WHEN 'v' THEN format('CREATE VIEW %s AS %s', c.oid::regclass, pg_get_viewdef(c.oid))
      WHEN 'm' THEN format('CREATE MATERIALIZED VIEW %s AS %s', c.oid::regclass, pg_get_viewdef(c.oid)) ELSE '' END AS definition
    FROM pg_catalog.pg_class c ${ofTenants('c')} WHERE c.relkind IN ('v', 'm', 'f')`,
  sql`SELECT 'The function ' || p.oid::regprocedure, CASE WHEN p.prokind = 'a' THEN '' ELSE pg_get_functiondef(p.oid) || ';' END
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND ${isTenants}`,
  sql`SELECT 'The trigger ' || t.tgname || ' on ' || c.oid::regclass, pg_get_triggerdef(t.oid) || ';'
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid ${ofTenants('c')}
    WHERE NOT t.tgisinternal AND t.tgname !~ '^svc_(note_change$|log_)' AND ${isKept}`,
  sql`SELECT 'The rule ' || r.rulename || ' on ' || c.oid::regclass, pg_get_ruledef(r.oid)
    FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class ${ofTenants('c')} WHERE r.rulename <> '_RETURN'`,
  sql`SELECT 'The row security policy ' || p.polname || ' on ' || c.oid::regclass || '; without it nobody but the server reads the table',
      format('-- USING (%s) WITH CHECK (%s)', pg_get_expr(p.polqual, c.oid), pg_get_expr(p.polwithcheck, c.oid))
    FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid ${ofTenants('c')}`,
  sql`SELECT 'The extended statistics ' || s.stxname, pg_get_statisticsobjdef(s.oid) || ';'
    FROM pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid ${ofTenants('c')}`,
  sql`SELECT 'The type ' || t.oid::regtype, '' FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace AND ${isTenants}
    WHERE t.typtype IN ('d', 'r') OR t.typtype = 'c' AND (SELECT relkind FROM pg_catalog.pg_class WHERE oid = t.typrelid) = 'c'`,
  sql`SELECT format('%s inherits from %s', i.inhrelid::regclass, i.inhparent::regclass), ''
    FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid ${ofTenants('c')}
    WHERE c.relkind = 'r' AND NOT c.relispartition`,
  sql`SELECT format('What %s may do with %s', who.name, c.oid::regclass),
      format('GRANT %s ON %s TO %s;', string_agg(p.privilege_type, ', '), c.oid::regclass, who.name)
    FROM pg_catalog.pg_class c ${ofTenants('c')} CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS p
    CROSS JOIN LATERAL (SELECT CASE p.grantee WHEN 0 THEN 'PUBLIC' ELSE p.grantee::regrole::text END AS name) AS who
    WHERE p.grantee NOT IN (c.relowner, (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = n.nspname)) AND c.relkind IN ('r', 'p')
    GROUP BY c.oid, who.name`,
  sql`SELECT format('What %s may do with the column %I of %s', who.name, a.attname, c.oid::regclass),
      format('GRANT %s (%I) ON %s TO %s;', p.privilege_type, a.attname, c.oid::regclass, who.name)
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid ${ofTenants('c')}
    CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) AS p
    CROSS JOIN LATERAL (SELECT CASE p.grantee WHEN 0 THEN 'PUBLIC' ELSE p.grantee::regrole::text END AS name) AS who`,
  sql`SELECT format('That %s belongs to %s and not to the server', c.oid::regclass, c.relowner::regrole),
      format('ALTER TABLE %s OWNER TO %s;', c.oid::regclass, c.relowner::regrole)
    FROM pg_catalog.pg_class c ${ofTenants('c')} WHERE c.relkind IN ('r', 'p') AND c.relowner <> n.nspowner`,
  sql`SELECT 'The reference system ' || srid, format('INSERT INTO spatial_ref_sys VALUES (%s, %L, %L, %L, %L);',
      srid, auth_name, auth_srid, srtext, proj4text) FROM spatial_ref_sys
    WHERE coalesce(auth_name, '') NOT IN ('EPSG', 'ESRI') AND srid < 900000`,
  sql`SELECT 'The schema ' || n.nspname || ', which is no application''s', '' FROM pg_catalog.pg_namespace n
    WHERE n.nspname !~ '^(pg_.*|information_schema|svc|public|pgboss)$' AND NOT ${isExtensions('pg_namespace', 'n.oid')}
      AND NOT EXISTS (SELECT FROM svc.applications WHERE svc.tenant_name(id) = n.nspname)`,
  sql`SELECT 'The table ' || c.oid::regclass || ', which is no application''s', '' FROM pg_catalog.pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT ${isExtensions('pg_class', 'c.oid')}`,
]

export function findLeftOut(tx: Queryable): Promise<LeftOut[]> {
  const pieces = searches.map((search) => sql`(${search})`)
  return tx.query<LeftOut>(sql`SELECT what, definition FROM (${joinSql(pieces, ' UNION ALL ')}) AS found ORDER BY what`)
}
