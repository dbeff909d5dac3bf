-- Tenants' roles see nothing of the catalogs, neither as tables nor by functions that turn numbers into names. The check of
-- their SQL has allow-lists; this is the wall behind it. Only a superuser owns the catalogs, so elsewhere that check and the
-- schemas' rights are all there is. Members of pg_monitor and pg_read_all_data, such as whoever watches the server, go on
-- seeing, and so does the role of the server itself, which need not stay a superuser.
DO $$
DECLARE
  closed text;
  server regrole := (SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'svc');
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN RETURN; END IF;

  SELECT string_agg(format('pg_catalog.%I', c.relname), ', ') INTO closed
  FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
    AND has_table_privilege('public', c.oid, 'SELECT');
  REVOKE ALL ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
  EXECUTE format('GRANT SELECT ON %s TO pg_monitor, %s', closed, server);

  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO closed
  FROM pg_proc p
  WHERE p.prokind = 'f' AND p.pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')
    -- The view geometry_columns calls these two with the rights of who reads it.
    AND p.oid NOT IN ('has_table_privilege(oid, text)'::regprocedure, 'pg_get_constraintdef(oid)'::regprocedure) AND (
    -- Those of the types whose texts are names of the catalog, and of rights.
    array_append(p.proargtypes::oid[], p.prorettype) && (
      SELECT array_agg(t.oid) || array_agg(t.typarray) FROM pg_type t
      WHERE t.typnamespace = 'pg_catalog'::regnamespace AND (t.typname = 'aclitem'
        OR t.typname LIKE 'reg%' AND t.typname NOT IN ('regconfig', 'regdictionary')))
    -- Input of any type, given by its number.
    OR p.proname IN ('record_in', 'record_recv', 'domain_in', 'domain_recv', 'array_in', 'array_recv', 'range_in', 'range_recv',
      'multirange_in', 'multirange_recv', 'enum_in', 'enum_recv', 'pg_input_is_valid', 'pg_input_error_info')
    OR p.proname IN ('format_type', 'oidvectortypes', 'row_security_active', 'pg_describe_object', 'pg_database_size',
      'pg_show_all_settings', 'pg_config', 'pg_settings_get_flags', 'pg_has_role', 'pg_partition_root',
      'obj_description', 'col_description', 'shobj_description', 'ts_debug', 'ts_parse', 'ts_token_type', 'amvalidate')
    OR p.proname LIKE 'has\_%\_privilege' OR p.proname LIKE 'pg\_get\_%' OR p.proname LIKE 'pg\_stat\_get\_%'
    OR p.proname LIKE 'pg\_%\_is\_visible' OR p.proname LIKE 'pg\_identify\_object%' OR p.proname LIKE 'pg\_relation\_%'
    OR p.proname LIKE 'pg\_tablespace\_%' OR p.proname LIKE 'pg\_sequence\_%' OR p.proname LIKE 'pg\_collation\_actual%');
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', closed);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_monitor, pg_read_all_data, %s', closed, server);

  -- What 0002 took from everybody, but the server needs.
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO closed
  FROM pg_proc p
  WHERE p.prokind = 'f' AND p.pronamespace = 'pg_catalog'::regnamespace AND (
    p.proname IN ('set_config', 'pg_notify', 'nextval', 'currval', 'setval', 'lastval', 'pg_cancel_backend', 'pg_terminate_backend',
      'pg_current_xact_id', 'txid_current', 'pg_stat_get_activity', 'pg_blocking_pids', 'pg_sleep')
    OR p.proname LIKE 'pg\_advisory\_%' OR p.proname LIKE 'pg\_try\_advisory\_%')
  OR p.proname = 'st_estimatedextent';
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', closed, server);

  -- PostGIS: what reads or changes tables by name, and what takes texts for PROJ, which may name files of the server.
  SELECT string_agg(p.oid::regprocedure::text, ', ') INTO closed
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
  WHERE p.prokind = 'f' AND e.extname = 'postgis' AND (
    p.proname IN ('find_srid', 'st_findextent', 'populate_geometry_columns', 'addgeometrycolumn', 'dropgeometrycolumn',
      'dropgeometrytable', 'updategeometrysrid', 'addauth', 'checkauth', 'lockrow', 'unlockrows', 'enablelongtransactions',
      'disablelongtransactions', 'longtransactionsenabled', 'gettransactionid', 'get_proj4_from_srid', 'st_fromflatgeobuftotable',
      'postgis_extensions_upgrade', 'postgis_full_version', 'postgis_proj_version', 'postgis_constraint_srid',
      'postgis_constraint_dims', 'postgis_constraint_type', 'postgis_transform_geometry',
      'postgis_transform_pipeline_geometry', 'st_transformpipeline', 'st_inversetransformpipeline')
    OR p.proname = 'st_transform' AND 'text'::regtype = ANY (p.proargtypes::oid[]));
  IF closed IS NULL THEN RETURN; END IF;
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', closed);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', closed, server);
END $$;
