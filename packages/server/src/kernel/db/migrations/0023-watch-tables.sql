-- A table whose row in pg_class somebody else changes in the same moment, by a GRANT say, fails with an internal error
-- ("tuple concurrently updated"). It is left for the next time too, and so is one whose lock would be a deadlock.
CREATE OR REPLACE FUNCTION svc.watch_tables(schema text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found regclass;
BEGIN
  FOR found IN
    SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = schema AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'svc\_%'
      AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'svc_note_change')
  LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      EXECUTE format('CREATE TRIGGER svc_note_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()', found);
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error OR insufficient_privilege OR undefined_table
      OR duplicate_object THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
