-- Uploads: files that become datasets and maps.

CREATE TABLE svc.uploads (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  owner_id bigint,
  file_name text NOT NULL,
  path text NOT NULL,
  options jsonb NOT NULL,
  size bigint NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
  stage text CHECK (stage IN ('unpacking', 'scanning', 'loading', 'transforming', 'indexing', 'overviews', 'publishing')),
  progress float8 NOT NULL DEFAULT 0,
  error jsonb NOT NULL DEFAULT '{}',
  warnings jsonb NOT NULL DEFAULT '[]',
  results jsonb NOT NULL DEFAULT '[]',
  dataset_id uuid,
  tile_source_id uuid,
  feature_count bigint,
  started_at timestamptz,
  finished_at timestamptz,
  -- Who works on it: whoever is no longer named here has lost it, and publishes nothing.
  worker uuid,
  attempts integer NOT NULL DEFAULT 0,
  heard_at timestamptz
);
CREATE INDEX ON svc.uploads (application_id, created_at, id);
CREATE INDEX ON svc.uploads (application_id, created_at) WHERE status IN ('pending', 'processing');

-- What has ended stays as it ended.
CREATE FUNCTION svc.keep_ended_uploads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The upload has ended.' USING ERRCODE = 'GR409';
END $$;
CREATE TRIGGER keep_ended_uploads BEFORE UPDATE OF status ON svc.uploads FOR EACH ROW
  WHEN (OLD.status IN ('completed', 'failed', 'cancelled') AND NEW.status <> OLD.status)
  EXECUTE FUNCTION svc.keep_ended_uploads();

-- Tables whose names begin with svc_ are ours: parts of overviews, and what is being loaded. Nobody draws them as they are.
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
    EXCEPTION WHEN lock_not_available OR insufficient_privilege OR undefined_table OR duplicate_object THEN
      CONTINUE;
    END;
  END LOOP;
END $$;
