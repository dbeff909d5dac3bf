-- Makes every table of a tenant note its changes. A table that is locked, or not ours, is left for the next time. Tables are handled by
-- their names: of one that is dropped meanwhile a regclass has only the number, which is no name, so that the caller would get a syntax
-- error. A name of which nothing is left is an undefined table.
CREATE OR REPLACE FUNCTION svc.watch_tables(schema text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found name;
BEGIN
  FOR found IN
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = schema AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'svc\_%'
      AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'svc_note_change')
  LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      EXECUTE format('CREATE TRIGGER svc_note_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I.%I FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()', schema, found);
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error OR insufficient_privilege OR undefined_table
      OR duplicate_object OR wrong_object_type THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
