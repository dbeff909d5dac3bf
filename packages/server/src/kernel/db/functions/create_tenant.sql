-- Makes the role and schema of an application. Tables that the platform puts into the schema later can be read by the role at once. The role
-- may hold 40 of PostgreSQL's connections, over all replicas: by default a server has 100.
CREATE OR REPLACE FUNCTION svc.create_tenant(application_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := svc.tenant_name(application_id);
BEGIN
  -- Roles belong to the whole cluster: a copy of the database in the same cluster finds them there.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
    EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 40', name);
  END IF;
  EXECUTE format('CREATE SCHEMA %I', name);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', name, name);
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO %I', name, name);
  INSERT INTO svc.databases (application_id, type, name, description, host, port, "user", db, "default")
  VALUES (application_id, 'internal', 'Internal', 'The application''s own place in the platform''s database', '', 0, '', '', true);
END $$;
