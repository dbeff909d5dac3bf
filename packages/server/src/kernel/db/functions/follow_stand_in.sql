-- Begins to log the changes of the table that a stand-in stands for, or goes on. A write that was under way when an era began may have
-- seen that nobody follows, and its process may die before it looks again: so an era begins with an intent of everything.
CREATE OR REPLACE FUNCTION svc.follow_stand_in(schema text, table_name text) RETURNS void LANGUAGE plpgsql AS $$
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
