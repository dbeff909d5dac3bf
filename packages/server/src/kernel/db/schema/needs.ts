/**
 * What the server needs of PostgreSQL, and the statement that gives what is missing: rights on each object of schema svc, the
 * attributes of its role, PostGIS, sessions that may write. Generated from the catalogs, so that a new table is asked for by itself.
 * Readiness and `doctor` ask the same.
 */
import type { Db } from '../db.ts'
import { raw } from '../sql.ts'

export type Need = {
  readonly subject: 'role' | 'rights' | 'session' | 'postgis'
  /** What is missing, in words that everybody may read. */
  readonly what: string
  /** The SQL that gives it, for its owner or a superuser. */
  readonly mend: string
}

/** ST_TileEnvelope, the first of the functions used that older ones lack, came with it. */
export const oldestPostgis = '3.0'

const tenantSchemas = `'^app_[0-9a-f]{32}$'`

/** Each has the columns subject, what and mend. `me` is the role. */
const lists: readonly string[] = [
  `SELECT 'role', 'CREATEROLE of the role ' || me, format('ALTER ROLE %I CREATEROLE;', me)
   FROM pg_roles WHERE rolname = me AND NOT rolsuper AND NOT rolcreaterole`,
  `SELECT 'role', 'CREATE on the database', format('GRANT CREATE ON DATABASE %I TO %I;', current_database(), me)
   WHERE NOT has_database_privilege(current_database(), 'CREATE')`,

  `SELECT 'rights', format('%s on schema %I', wanted, nspname), format('GRANT %s ON SCHEMA %I TO %I;', wanted, nspname, me)
   FROM pg_namespace, unnest(CASE nspname WHEN 'public' THEN '{USAGE}' ELSE '{USAGE,CREATE}'::text[] END) AS wanted
   WHERE (nspname IN ('svc', 'public') OR nspname ~ ${tenantSchemas}) AND NOT has_schema_privilege(oid, wanted)`,
  `SELECT 'rights', format('%s on table svc.%I', wanted, relname), format('GRANT %s ON svc.%I TO %I;', wanted, relname, me)
   FROM pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS wanted
   WHERE relnamespace = to_regnamespace('svc') AND relkind IN ('r', 'p') AND NOT has_table_privilege(oid, wanted)`,
  `SELECT 'rights', format('SELECT on view svc.%I', relname), format('GRANT SELECT ON svc.%I TO %I;', relname, me)
   FROM pg_class
   WHERE relnamespace = to_regnamespace('svc') AND relkind IN ('v', 'm') AND NOT has_table_privilege(oid, 'SELECT')`,
  `SELECT 'rights', format('%s on sequence svc.%I', wanted, relname),
     format('GRANT %s ON SEQUENCE svc.%I TO %I;', wanted, relname, me)
   FROM pg_class, unnest('{USAGE,SELECT,UPDATE}'::text[]) AS wanted
   WHERE relnamespace = to_regnamespace('svc') AND relkind = 'S' AND NOT has_sequence_privilege(oid, wanted)`,
  `SELECT 'rights', format('EXECUTE on function svc.%I', proname),
     format('GRANT EXECUTE ON FUNCTION svc.%I(%s) TO %I;', proname, pg_get_function_identity_arguments(oid), me)
   FROM pg_proc WHERE pronamespace = to_regnamespace('svc') AND NOT has_function_privilege(oid, 'EXECUTE')`,

  // Migrations change what they own, and a role that owns a tenant's schema can give its rights away.
  `SELECT 'rights', format('ownership of schema %I', nspname), format('ALTER SCHEMA %I OWNER TO %I;', nspname, me)
   FROM pg_namespace WHERE (nspname = 'svc' OR nspname ~ ${tenantSchemas}) AND NOT pg_has_role(nspowner, 'USAGE')`,
  `SELECT 'rights', format('ownership of %s svc.%I', CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, relname),
     format('ALTER TABLE svc.%I OWNER TO %I;', relname, me)
   FROM pg_class c
   WHERE relnamespace = to_regnamespace('svc') AND relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT pg_has_role(relowner, 'USAGE')
     -- A sequence that belongs to a column goes with its table.
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i'))`,
  `SELECT 'rights', format('ownership of function svc.%I', proname),
     format('ALTER FUNCTION svc.%I(%s) OWNER TO %I;', proname, pg_get_function_identity_arguments(oid), me)
   FROM pg_proc WHERE pronamespace = to_regnamespace('svc') AND NOT pg_has_role(proowner, 'USAGE')`,

  // Since PostgreSQL 16 only the role that made a role may change it, or whom that one allows.
  `SELECT 'rights', format('ADMIN on role %I', rolname), format('GRANT %I TO %I WITH ADMIN OPTION;', rolname, me)
   FROM pg_roles JOIN pg_namespace ON nspname = rolname
   WHERE current_setting('server_version_num')::int >= 160000 AND rolname ~ ${tenantSchemas}
     AND NOT pg_has_role(me, rolname, 'MEMBER WITH ADMIN OPTION')`,

  // Applications read with PostGIS too.
  `SELECT 'rights', format('USAGE on schema public for role %I', rolname), 'GRANT USAGE ON SCHEMA public TO PUBLIC;'
   FROM pg_roles JOIN pg_namespace ON nspname = rolname
   WHERE rolname ~ ${tenantSchemas} AND NOT has_schema_privilege(rolname, 'public', 'USAGE')`,

  `SELECT 'session', 'sessions that may write (default_transaction_read_only is on)',
     format('ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = off;', me, current_database())
   WHERE current_setting('default_transaction_read_only') = 'on' AND NOT pg_is_in_recovery()`,
  `SELECT 'session', 'a primary server (this one is a standby)',
     '-- Name the primary in DATABASE_URL, or all hosts and target_session_attrs=read-write.'
   WHERE pg_is_in_recovery()`,
  `SELECT 'session', 'the schema public in search_path',
     format('ALTER ROLE %I IN DATABASE %I SET search_path = "$user", public;', me, current_database())
   WHERE to_regnamespace('public') IS NOT NULL AND NOT 'public' = ANY (current_schemas(false))
     AND has_schema_privilege('public', 'USAGE')`,

  `SELECT 'postgis', 'the extension postgis', 'CREATE EXTENSION postgis SCHEMA public;'
   WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'postgis')`,
  `SELECT 'postgis', format('PostGIS ${oldestPostgis} or later (it is %s)', extversion), 'ALTER EXTENSION postgis UPDATE;'
   FROM pg_extension WHERE extname = 'postgis'
     AND (regexp_match(extversion, '^\\d+(?:\\.\\d+)?'))[1]::numeric < ${oldestPostgis}`,
  `SELECT 'postgis', format('PostGIS in schema public (it is in %I)', nspname),
     'DROP EXTENSION postgis; CREATE EXTENSION postgis SCHEMA public;'
   FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'postgis' AND nspname <> 'public'`,
  `SELECT 'postgis', 'SELECT on spatial_ref_sys', format('GRANT SELECT ON public.spatial_ref_sys TO %I;', me)
   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'public' AND c.relname = 'spatial_ref_sys' AND NOT has_table_privilege(c.oid, 'SELECT')`,
  `SELECT 'postgis', format('EXECUTE on function %s', p.proname),
     format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO %I;', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid), me)
   FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
   WHERE n.nspname = 'public' AND p.proname ~ '^(st_|geometry|postgis_)' AND NOT has_function_privilege(p.oid, 'EXECUTE')`,
]

/** For whoever has another connection than the platform's. */
export const needsQuery = `SELECT subject, what, mend FROM (SELECT current_user::text AS me) AS role,
  LATERAL (${lists.join('\nUNION ALL\n')}) AS needs (subject, what, mend) ORDER BY subject, what`

/** What is missing now; nothing on the embedded database, which is the server's own. */
export const missingNeeds = async (db: Pick<Db, 'kind' | 'query'>): Promise<readonly Need[]> =>
  db.kind === 'embedded' ? [] : db.query<Need>(raw(needsQuery))
