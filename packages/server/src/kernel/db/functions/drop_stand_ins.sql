-- Drops stand-ins whose tables nobody has followed for the retention (svc.sweep_changes). One that is locked is left for the next time.
CREATE OR REPLACE FUNCTION svc.drop_stand_ins() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  FOR found IN SELECT c.oid, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE c.relname LIKE 'svc\_out\_%' AND c.relkind = 'r' AND n.nspname LIKE 'app\_%'
                 AND NOT EXISTS (SELECT FROM svc.followed_tables f WHERE f.relation = c.oid) LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      PERFORM pg_advisory_xact_lock(hashtextextended('svc.follow_table ' || found.nspname || ' ' || found.relname, 0));
      CONTINUE WHEN EXISTS (SELECT FROM svc.followed_tables f WHERE f.relation = found.oid);
      EXECUTE format('DROP TABLE IF EXISTS %I.%I', found.nspname, found.relname);
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
