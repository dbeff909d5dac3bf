-- Begins to log the changes of a table, or goes on. A table that is locked fails within half a second, for another attempt. Its triggers fire in
-- every session, also where session_replication_role is replica; those that earlier versions made do so from now on.
CREATE OR REPLACE FUNCTION svc.follow_table(schema text, table_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  state record;
  part oid;
  parts oid[];
BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.follow_table ' || schema || ' ' || table_name, 0));
  SELECT * INTO state FROM svc.followed(schema, table_name);
  IF state.root IS NULL OR NOT state.is_plain THEN RETURN; END IF;
  parts := ARRAY(SELECT p FROM unnest(state.relations) AS p WHERE 4 > (
    SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = p AND t.tgenabled = 'A'
      AND t.tgname IN ('svc_log_insert', 'svc_log_update', 'svc_log_delete', 'svc_log_truncate')));
  IF cardinality(parts) > 0 THEN
    -- Whether there is a gap is known only when nobody writes any more.
    FOREACH part IN ARRAY parts LOOP
      EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', part::regclass);
    END LOOP;
    SELECT * INTO state FROM svc.followed(schema, table_name);
  END IF;
  FOREACH part IN ARRAY parts LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
    EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
    EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
    EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
    EXECUTE format('ALTER TABLE ONLY %1$s ENABLE ALWAYS TRIGGER svc_log_insert, ENABLE ALWAYS TRIGGER svc_log_update, ENABLE ALWAYS TRIGGER svc_log_delete, ENABLE ALWAYS TRIGGER svc_log_truncate', part::regclass);
  END LOOP;
  INSERT INTO svc.followed_tables AS f (relation, era, columns, cluster)
  SELECT state.root, coalesce(state.era, substr(md5(gen_random_uuid()::text), 1, 16)), now.columns, svc.change_cluster()
  FROM svc.followed(schema, table_name) AS now
  ON CONFLICT (relation) DO UPDATE SET era = EXCLUDED.era, columns = EXCLUDED.columns, cluster = EXCLUDED.cluster, followed_at = clock_timestamp();
END $$;
