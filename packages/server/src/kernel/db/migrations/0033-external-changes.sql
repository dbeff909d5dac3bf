-- Changes of tables in databases of applications' own. No trigger can be set there, so what is written through the service is logged
-- by the service, when it is committed there.
--
-- Such a table has a stand-in: an empty table in the application's schema, under whose oid its changes are logged. So the log, its
-- readers, its bindings, its eras and its retention are the same for both kinds of tables.

-- Entries of the log for writes that are about to be committed in another database. They are moved into the log after that commit, and
-- deleted after a rollback. Those of a process that died in between are moved by whoever sweeps: the write may have been committed.
CREATE TABLE svc.change_intents (
  write_id uuid NOT NULL,
  place integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  relation oid NOT NULL,
  operation text NOT NULL,
  row_count bigint,
  keys jsonb,
  boxes jsonb,
  PRIMARY KEY (write_id, place)
);
CREATE INDEX ON svc.change_intents (noted_at);

-- Begins to log the changes of the table that a stand-in stands for, or goes on. A write that was under way when an era began may have
-- seen that nobody follows, and its process may die before it looks again: so an era begins with an intent of everything.
CREATE FUNCTION svc.follow_stand_in(schema text, table_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  last_era text;
BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.follow_table ' || schema || ' ' || table_name, 0));
  EXECUTE format('CREATE TABLE IF NOT EXISTS %I.%I (is_stand_in boolean)', schema, table_name);
  SELECT era INTO last_era FROM svc.followed(schema, table_name);
  PERFORM svc.follow_table(schema, table_name);
  INSERT INTO svc.change_intents (write_id, place, relation, operation)
  SELECT gen_random_uuid(), 1, state.root, operation
  FROM svc.followed(schema, table_name) AS state, unnest(ARRAY['insert', 'update', 'delete']) AS operation
  WHERE last_era IS NULL AND state.era IS NOT NULL;
END $$;

-- Drops stand-ins whose tables nobody has followed for the retention (svc.sweep_changes). One that is locked is left for the next time.
CREATE FUNCTION svc.drop_stand_ins() RETURNS void LANGUAGE plpgsql AS $$
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
