-- Makes every table of a tenant note its changes, in every session: a trigger that is not ENABLE ALWAYS does not fire where
-- session_replication_role is replica, and one that somebody has disabled is enabled again, since nobody but the platform needs it. A table that
-- is locked, or not ours, is left for the next time. Tables are handled by their names: of one that is dropped meanwhile a regclass has only the
-- number, which is no name, so that the caller would get a syntax error. A name of which nothing is left is an undefined table.
CREATE OR REPLACE FUNCTION svc.watch_tables(schema text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT c.relname, pg_has_role(c.relowner, 'USAGE') AS is_owned, t.oid IS NOT NULL AS has_trigger
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = 'svc_note_change'
    WHERE n.nspname = schema AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'svc\_%' AND t.tgenabled IS DISTINCT FROM 'A'
  LOOP
    -- Whoever may set triggers on a table of another role may not enable them.
    CONTINUE WHEN found.has_trigger AND NOT found.is_owned;
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      IF NOT found.has_trigger THEN
        EXECUTE format('CREATE TRIGGER svc_note_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I.%I FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()', schema, found.relname);
      END IF;
      IF found.is_owned THEN
        EXECUTE format('ALTER TABLE ONLY %I.%I ENABLE ALWAYS TRIGGER svc_note_change', schema, found.relname);
      END IF;
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error OR insufficient_privilege OR undefined_table
      OR undefined_object OR duplicate_object OR wrong_object_type THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
