-- The platform's own tables. Tenant data never lives in this schema.

CREATE TABLE svc.applications (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  contact text NOT NULL,
  -- Things that a master key makes without naming an application go here.
  is_default boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX one_default_application ON svc.applications (is_default) WHERE is_default;
CREATE INDEX ON svc.applications (created_at, id);

-- Equal for keys that can do the same. (The clock's text form depends on the session, hence epoch.)
CREATE FUNCTION svc.power_of(
  type text, application_id uuid, permissions jsonb, user_id bigint, expires_at timestamptz, allowed_origins text[]
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT md5(jsonb_build_array(type, application_id, permissions, user_id, extract(epoch FROM expires_at), allowed_origins)::text)
$$;

-- The id of a key is a credential: only its hash and a sealed copy are kept.
CREATE TABLE svc.apikeys (
  hash bytea PRIMARY KEY,
  secret text NOT NULL,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  description text NOT NULL,
  type text NOT NULL CHECK (type IN ('master', 'app', 'user')),
  permissions jsonb NOT NULL,
  user_id bigint CHECK ((user_id IS NOT NULL) = (type = 'user')),
  expires_at timestamptz,
  allowed_origins text[],
  last_used_at timestamptz,
  -- Who may see which keys is decided once for each power, not for each key.
  power text NOT NULL GENERATED ALWAYS AS
    (svc.power_of(type, application_id, permissions, user_id, expires_at, allowed_origins)) STORED
);
CREATE INDEX ON svc.apikeys (application_id, created_at, hash);
CREATE INDEX ON svc.apikeys (application_id, power);
CREATE INDEX ON svc.apikeys (type) WHERE type = 'master';

-- However it comes about, by deletion of the key or of its application: one master key is always left.
CREATE FUNCTION svc.keep_a_master_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gone WHERE type = 'master') THEN
    -- Two deletions at once must not each count on the other's key.
    PERFORM pg_advisory_xact_lock(hashtext('svc.keep_a_master_key'));
    IF NOT EXISTS (SELECT FROM svc.apikeys WHERE type = 'master') THEN
      RAISE EXCEPTION 'The last master key cannot be deleted: make another one first.' USING ERRCODE = 'GR409';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER keep_a_master_key AFTER DELETE ON svc.apikeys
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION svc.keep_a_master_key();

CREATE FUNCTION svc.keep_the_default_application() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The default application cannot be deleted.' USING ERRCODE = 'GR409';
END $$;
CREATE TRIGGER keep_the_default_application BEFORE DELETE ON svc.applications
  FOR EACH ROW WHEN (OLD.is_default) EXECUTE FUNCTION svc.keep_the_default_application();

CREATE TABLE svc.styles (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  type text NOT NULL CHECK (type = 'plain'),
  style jsonb NOT NULL
);
CREATE INDEX ON svc.styles (application_id, created_at, id);

CREATE TABLE svc.appconfig (
  application_id uuid PRIMARY KEY CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  config jsonb NOT NULL DEFAULT '{}' CONSTRAINT config_size CHECK (octet_length(config::text) <= 1048576)
);

-- Facts about the installation, such as the fingerprint of its secret.
CREATE TABLE svc.settings (name text PRIMARY KEY, value text NOT NULL);

-- Sets the value at a path. Objects that are missing on the way are made; what is neither object nor array stays.
CREATE FUNCTION svc.json_set(target jsonb, path text[], value jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  key text := path[1];
  size int;
BEGIN
  IF cardinality(path) = 0 THEN RETURN value; END IF;
  IF target IS NULL OR jsonb_typeof(target) = 'null' THEN
    RETURN jsonb_build_object(key, svc.json_set(NULL, path[2:], value));
  ELSIF jsonb_typeof(target) = 'object' THEN
    RETURN target || jsonb_build_object(key, svc.json_set(target -> key, path[2:], value));
  ELSIF jsonb_typeof(target) = 'array' THEN
    size := jsonb_array_length(target);
    -- As everywhere in PostgreSQL, -1 is the last item.
    IF key ~ '^-\d{1,6}$' THEN key := size + key::int; END IF;
    IF key !~ '^\d{1,6}$' OR key::int > size THEN
      RAISE EXCEPTION 'The key leads into a list of % items, where "%" is no place.', size, key USING ERRCODE = 'GR400';
    ELSIF key::int = size THEN
      RETURN target || jsonb_build_array(svc.json_set(NULL, path[2:], value));
    END IF;
    RETURN jsonb_set(target, ARRAY[key], svc.json_set(target -> key::int, path[2:], value));
  END IF;
  RAISE EXCEPTION 'The key leads through a value that is neither an object nor a list, before "%".', key USING ERRCODE = 'GR400';
END $$;
