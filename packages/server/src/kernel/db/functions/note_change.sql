-- Notes that a statement wrote to a table of a tenant. It is the trigger svc_note_change of each such table (svc.watch_tables), and
-- never makes a writer wait for another.
CREATE OR REPLACE FUNCTION svc.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc, pg_temp AS $$
BEGIN
  INSERT INTO svc.data_changes (schema_name, table_name) VALUES (TG_TABLE_SCHEMA, TG_TABLE_NAME);
  -- Old ones go in passing. That changes the version too, which costs a few tiles that are made anew.
  IF random() < 0.005 THEN
    DELETE FROM svc.data_changes WHERE (schema_name, table_name, id) IN (
      SELECT schema_name, table_name, id FROM svc.data_changes
      WHERE schema_name = TG_TABLE_SCHEMA AND table_name = TG_TABLE_NAME AND at < clock_timestamp() - interval '10 minutes'
      FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN NULL;
END $$;
