-- Begins to log the changes of a table, or goes on. A table that is locked fails within half a second, for another attempt.
CREATE OR REPLACE FUNCTION svc.follow_table(schema text, table_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  state record;
  part oid;
BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.follow_table ' || schema || ' ' || table_name, 0));
  SELECT * INTO state FROM svc.followed(schema, table_name);
  IF state.root IS NULL OR NOT state.is_plain THEN RETURN; END IF;
  IF state.era IS NULL THEN
    FOREACH part IN ARRAY state.relations LOOP
      CONTINUE WHEN svc.has_change_triggers(part);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('ALTER TABLE %1$s ENABLE TRIGGER svc_log_insert, ENABLE TRIGGER svc_log_update, ENABLE TRIGGER svc_log_delete, ENABLE TRIGGER svc_log_truncate', part::regclass);
    END LOOP;
  END IF;
  INSERT INTO svc.followed_tables AS f (relation, era, columns, cluster)
  VALUES (state.root, coalesce(state.era, substr(md5(gen_random_uuid()::text), 1, 16)), state.columns, svc.change_cluster())
  ON CONFLICT (relation) DO UPDATE SET era = EXCLUDED.era, columns = EXCLUDED.columns, cluster = EXCLUDED.cluster, followed_at = clock_timestamp();
END $$;
