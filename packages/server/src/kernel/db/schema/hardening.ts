/**
 * Hardening: the SQL text by which an administrator closes the catalogs of PostgreSQL to the roles of tenants, and how much of it is
 * done. Only a superuser owns the catalogs, so the server's role cannot do it: without it the check of tenants' SQL and the rights on
 * schemas are the walls, with it there is one more behind them.
 *
 * What PostgreSQL and PostGIS open to everybody is taken from PUBLIC and granted by name to the server's role, and to the predefined
 * roles of those who administer and watch databases. Nothing changes its owner. The text and the check read the same query, so a
 * function that an update of PostgreSQL or PostGIS adds shows up as not yet closed.
 */
import type { Queryable } from '../db.ts'
import { raw } from '../sql.ts'
import { serverRole } from './server-role.ts'

/** The functions of PostgreSQL that reach beyond a role from inside a SELECT, and those that turn numbers of the catalogs into names. */
const systemFunctions = `
  p.pronamespace = 'pg_catalog'::regnamespace
    -- The view geometry_columns calls these two with the rights of who reads it.
    AND p.oid NOT IN ('has_table_privilege(oid, text)'::regprocedure, 'pg_get_constraintdef(oid)'::regprocedure) AND (
    p.proname IN ('set_config', 'pg_notify', 'pg_logical_emit_message', 'loread', 'lowrite',
      'pg_sleep', 'pg_sleep_for', 'pg_sleep_until', 'pg_cancel_backend', 'pg_terminate_backend', 'pg_reload_conf',
      'pg_lock_status', 'pg_blocking_pids', 'pg_safe_snapshot_blocking_pids', 'pg_prepared_statement', 'pg_prepared_xact',
      'pg_cursor', 'pg_export_snapshot', 'txid_current', 'pg_current_xact_id', 'currval', 'nextval', 'setval', 'lastval',
      'pg_listening_channels', 'pg_notification_queue_usage', 'currtid2',
      -- These run SQL that they are given as text.
      'ts_stat', 'ts_rewrite',
      -- Input of any type, given by its number.
      'record_in', 'record_recv', 'domain_in', 'domain_recv', 'array_in', 'array_recv', 'range_in', 'range_recv',
      'multirange_in', 'multirange_recv', 'enum_in', 'enum_recv', 'pg_input_is_valid', 'pg_input_error_info',
      'format_type', 'oidvectortypes', 'row_security_active', 'pg_describe_object', 'pg_database_size',
      'pg_show_all_settings', 'pg_config', 'pg_settings_get_flags', 'pg_has_role', 'pg_partition_root',
      'obj_description', 'col_description', 'shobj_description', 'ts_debug', 'ts_parse', 'ts_token_type', 'amvalidate')
    OR p.proname ~ '^(lo_|pg_advisory_|pg_try_advisory_|pg_ls_|pg_read_|pg_stat_file|pg_control_|pg_get_|pg_stat_get_'
      '|pg_identify_object|pg_relation_|pg_tablespace_|pg_sequence_|pg_collation_actual)'
    OR p.proname ~ '_to_xml|^has_.*_privilege$|^pg_.*_is_visible$'
    -- Those of the types whose texts are names of the catalogs, and of rights.
    OR array_append(p.proargtypes::oid[], p.prorettype) && (
      SELECT array_agg(t.oid) || array_agg(t.typarray) FROM pg_type t
      WHERE t.typnamespace = 'pg_catalog'::regnamespace AND (t.typname = 'aclitem'
        OR t.typname LIKE 'reg%' AND t.typname NOT IN ('regconfig', 'regdictionary'))))`

/** Functions of PostGIS that read or change tables by name, and those that take texts for PROJ, which may name files of the server. */
const postgisFunctions = `
  EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND e.extname = 'postgis') AND (
    p.proname IN ('st_estimatedextent', '_postgis_stats', '_postgis_selectivity', '_postgis_join_selectivity',
      '_postgis_index_extent', 'find_srid', 'st_findextent', 'populate_geometry_columns', 'addgeometrycolumn',
      'dropgeometrycolumn', 'dropgeometrytable', 'updategeometrysrid', 'addauth', 'checkauth', 'lockrow', 'unlockrows',
      'enablelongtransactions', 'disablelongtransactions', 'longtransactionsenabled', 'gettransactionid',
      'get_proj4_from_srid', 'st_fromflatgeobuftotable', 'postgis_extensions_upgrade', 'postgis_full_version',
      'postgis_proj_version', 'postgis_constraint_srid', 'postgis_constraint_dims', 'postgis_constraint_type',
      'postgis_transform_geometry', 'postgis_transform_pipeline_geometry', 'st_transformpipeline',
      'st_inversetransformpipeline')
    OR p.proname = 'st_transform' AND 'text'::regtype = ANY (p.proargtypes::oid[]))`

/** What is to be closed: its oid, whether it is a relation, its name, and whether everybody may use it when it is installed. */
const targets = `
  SELECT c.oid, true AS is_relation, format('pg_catalog.%I', c.relname) AS name, true AS was_open
  FROM pg_class c JOIN pg_init_privs i ON i.classoid = 'pg_class'::regclass AND i.objoid = c.oid AND i.objsubid = 0
  WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
    AND EXISTS (SELECT FROM aclexplode(i.initprivs) a WHERE a.grantee = 0 AND a.privilege_type = 'SELECT')
  UNION ALL
  SELECT p.oid, false, p.oid::regprocedure::text, EXISTS (
    SELECT FROM aclexplode(coalesce((SELECT i.initprivs FROM pg_init_privs i
      WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid AND i.objsubid = 0), acldefault('f', p.proowner))) a
    WHERE a.grantee = 0)
  FROM pg_proc p WHERE p.prokind = 'f' AND (${systemFunctions}
  OR ${postgisFunctions})`

/** The text that a superuser runs in the database, as often as there is something to close. */
export const hardeningText = `-- Closes the catalogs of this database to the roles of Graticule's tenants. Run it as a superuser, in the database of DATABASE_URL:
--   npm start --silent -- hardening | psql -v ON_ERROR_STOP=1 "postgres://SUPERUSER@HOST/DATABASE"
-- It may run again, and should after an update of PostgreSQL or PostGIS. It takes rights from PUBLIC and grants them to the server's
-- role, and to members of pg_monitor, pg_read_all_data and pg_write_all_data. It changes no owner. It is one transaction.
DO $hardening$
DECLARE
  server regrole := (${serverRole});
  relations text;
  functions text;
  granted_functions text;
BEGIN
  IF current_setting('is_superuser') <> 'on' THEN
    RAISE EXCEPTION 'Only a superuser can close the catalogs: % is none.', current_user;
  END IF;
  SELECT string_agg(name, ', ') FILTER (WHERE is_relation), string_agg(name, ', ') FILTER (WHERE NOT is_relation),
    string_agg(name, ', ') FILTER (WHERE NOT is_relation AND was_open)
  INTO relations, functions, granted_functions FROM (${targets}
  ) AS target;
  REVOKE ALL ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
  EXECUTE format('GRANT SELECT ON %s TO %s, pg_monitor, pg_read_all_data, pg_write_all_data', relations, server);
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', functions);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s, pg_monitor, pg_read_all_data, pg_write_all_data', granted_functions, server);
  -- So that the server can limit the temporary files of a tenant's session.
  IF NOT has_parameter_privilege(server::oid, 'temp_file_limit', 'SET') THEN
    EXECUTE format('GRANT SET ON PARAMETER temp_file_limit TO %s', server);
  END IF;
END $hardening$;
`

/** How much of the text was run. */
export type Hardening = {
  /** How much is open as PostgreSQL and PostGIS are installed. */
  readonly total: number
  /** What everybody may still use. */
  readonly open: readonly string[]
  /** What was taken from this role too, because the text ran while another one was the server's. */
  readonly missing: readonly string[]
}

export async function readHardening(db: Pick<Queryable, 'query'>): Promise<Hardening> {
  const [row] = await db.query<Hardening>(
    raw(`
    SELECT (count(*) FILTER (WHERE was_open))::int4 AS total, coalesce(array_agg(name ORDER BY name) FILTER (WHERE is_open), '{}') AS open,
      coalesce(array_agg(name ORDER BY name) FILTER (WHERE was_open AND NOT is_ours), '{}') AS missing
    FROM (
      SELECT name, was_open,
        CASE WHEN is_relation THEN has_table_privilege('public', oid, 'SELECT')
          ELSE has_function_privilege('public', oid, 'EXECUTE') END AS is_open,
        CASE WHEN is_relation THEN has_table_privilege(oid, 'SELECT') ELSE has_function_privilege(oid, 'EXECUTE') END AS is_ours
      FROM (${targets}) AS target) AS state`),
  )
  if (!row) throw new Error('A query without GROUP BY answered no row.')
  return row
}
