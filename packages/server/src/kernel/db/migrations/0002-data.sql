-- Databases and datasets, and a place of its own in this database for the data of each application.

CREATE TABLE svc.databases (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  type text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  "user" text NOT NULL,
  password text,
  password_set boolean NOT NULL GENERATED ALWAYS AS (password IS NOT NULL) STORED,
  db text NOT NULL,
  "default" boolean NOT NULL
);
CREATE INDEX ON svc.databases (application_id, created_at, id);
CREATE UNIQUE INDEX one_default_database ON svc.databases (application_id) WHERE "default";

-- The last one made the default is; the one before no longer. Two at once take turns.
CREATE FUNCTION svc.move_default_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.default_database ' || NEW.application_id, 0));
  UPDATE svc.databases SET "default" = false, revision = revision + 1
  WHERE application_id = NEW.application_id AND "default" AND id <> NEW.id;
  RETURN NEW;
END $$;
CREATE TRIGGER insert_default_database BEFORE INSERT ON svc.databases
  FOR EACH ROW WHEN (NEW."default") EXECUTE FUNCTION svc.move_default_database();
-- Not where it is the default already: whoever held that row would wait for the lock, and the lock's holder for the row.
CREATE TRIGGER move_default_database BEFORE UPDATE OF "default" ON svc.databases
  FOR EACH ROW WHEN (NEW."default" AND NOT OLD."default") EXECUTE FUNCTION svc.move_default_database();

-- There is always a default; only with its application it goes.
CREATE FUNCTION svc.keep_the_default_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM svc.applications WHERE id = OLD.application_id) THEN
    RAISE EXCEPTION 'The default database cannot be deleted: make another one the default first.' USING ERRCODE = 'GR409';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER keep_the_default_database BEFORE DELETE ON svc.databases
  FOR EACH ROW WHEN (OLD."default") EXECUTE FUNCTION svc.keep_the_default_database();

CREATE TABLE svc.datasets (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  owner_id bigint,
  type text NOT NULL CHECK (type IN ('table', 'sql', 'rest', 'lambda')),
  source text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  attributes jsonb NOT NULL,
  bytes bigint,
  secrets text,
  -- Checked at the end of the transaction, so that an application can go with everything it has.
  database_id uuid NOT NULL CONSTRAINT database_in_use REFERENCES svc.databases DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ON svc.datasets (application_id, created_at, id);
CREATE INDEX ON svc.datasets (database_id);
CREATE INDEX ON svc.datasets USING gin ((metadata -> 'tags'));

-- The role and schema of an application have the same name.
CREATE FUNCTION svc.tenant_name(application_id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'app_' || replace(application_id::text, '-', '')
$$;

-- Makes them. Tables that we put into the schema later can be read by the role at once.
CREATE FUNCTION svc.create_tenant(application_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := svc.tenant_name(application_id);
BEGIN
  -- Roles belong to the whole cluster: a copy of the database in the same cluster finds them there.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
    EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 100', name);
  END IF;
  EXECUTE format('CREATE SCHEMA %I', name);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', name, name);
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO %I', name, name);
  INSERT INTO svc.databases (application_id, type, name, description, host, port, "user", db, "default")
  VALUES (application_id, 'internal', 'Internal', 'The application''s own place in the platform''s database', '', 0, '', '', true);
END $$;

CREATE FUNCTION svc.make_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.create_tenant(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER make_tenant AFTER INSERT ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.make_tenant();

-- Everything the role owns or may use is in its schema, but for the right to connect. (DROP OWNED would need us to be
-- a member of the role, which only a superuser is.)
CREATE FUNCTION svc.drop_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  name text := svc.tenant_name(OLD.id);
BEGIN
  EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', name);
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('svc.open_tenant', 0));
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM %I', current_database(), name);
    EXECUTE format('DROP ROLE %I', name);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER drop_tenant AFTER DELETE ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.drop_tenant();

-- Lets the role log in. The password is derived from the installation's secret, so it is kept nowhere. One at a time:
-- two at once that change the same row of a system table fail.
CREATE FUNCTION svc.open_tenant(application_id uuid, password text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  name text := svc.tenant_name(application_id);
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.open_tenant', 0));
  EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L', name, password);
  -- A safe start for every session, whatever it sets for each query.
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = on', name, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET standard_conforming_strings = on', name, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET lock_timeout = %L', name, current_database(), '2s');
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET work_mem = %L', name, current_database(), '16MB');
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET temp_file_limit = %L', name, current_database(), '1GB');
  END IF;
  -- Usually everybody may; a grant for each of thousands of tenants would make every connection slower.
  IF NOT has_database_privilege(name, current_database(), 'CONNECT') THEN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
  END IF;
  RETURN name;
END $$;

-- Nobody but this role reaches the platform's tables, and tenants make none outside of their schemas. What could reach beyond their
-- roles from inside a SELECT is closed by an administrator (npm start -- hardening): only a superuser owns the catalogs.
REVOKE ALL ON SCHEMA svc FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
DO $$ BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
END $$;

-- Applications that were there before.
SELECT svc.create_tenant(id) FROM svc.applications;
