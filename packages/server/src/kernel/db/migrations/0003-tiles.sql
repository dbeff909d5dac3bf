-- Tile sources, and how a change of data is noticed.

CREATE TABLE svc.tilesources (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  type text NOT NULL CHECK (type IN ('dataset', 'tilelive')),
  source text NOT NULL,
  attribution text NOT NULL,
  min_zoom integer NOT NULL,
  max_zoom integer NOT NULL,
  extent_lng_lat jsonb NOT NULL,
  is_extent_found boolean NOT NULL DEFAULT false,
  headers jsonb NOT NULL
);
CREATE INDEX ON svc.tilesources (application_id, created_at, id);

-- One row for each statement that wrote to a tenant's table. Writers never wait for one another: nobody updates a row.
-- How many they are and their sum together change with every commit, whatever the order of the commits.
CREATE TABLE svc.data_changes (
  schema_name text NOT NULL,
  table_name text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (schema_name, table_name, id)
);

CREATE FUNCTION svc.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = svc, pg_temp AS $$
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

-- Makes every table of a tenant note its changes. A table that is locked, or not ours, is left for the next time.
CREATE FUNCTION svc.watch_tables(schema text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found regclass;
BEGIN
  FOR found IN
    SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = schema AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'svc\_ov\_%'
      AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'svc_note_change')
  LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      EXECUTE format('CREATE TRIGGER svc_note_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()', found);
    EXCEPTION WHEN lock_not_available OR insufficient_privilege OR undefined_table OR duplicate_object THEN
      CONTINUE;
    END;
  END LOOP;
END $$;

-- Of one table; of the whole schema where it is not known which tables a view or a query reads.
CREATE FUNCTION svc.data_version(schema text, relation text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT count(*) || '.' || coalesce(sum(id), 0) FROM svc.data_changes
  WHERE schema_name = schema AND (relation IS NULL OR table_name = relation)
$$;

-- What an application noted goes with it.
CREATE FUNCTION svc.forget_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM svc.data_changes WHERE schema_name = svc.tenant_name(OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER forget_changes AFTER DELETE ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.forget_changes();
