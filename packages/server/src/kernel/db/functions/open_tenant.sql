-- Lets the role of an application log in. The password is derived from the installation's secret, so it is kept nowhere. One at a time:
-- two at once that change the same row of a system table fail. The temporary files of its sessions are limited where the server's role may
-- set that: as a superuser, or after hardening.
CREATE OR REPLACE FUNCTION svc.open_tenant(application_id uuid, password text) RETURNS text LANGUAGE plpgsql AS $$
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
  IF has_parameter_privilege('temp_file_limit', 'SET') THEN
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET temp_file_limit = %L', name, current_database(), '1GB');
  END IF;
  -- Usually everybody may; a grant for each of thousands of tenants would make every connection slower.
  IF NOT has_database_privilege(name, current_database(), 'CONNECT') THEN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
  END IF;
  RETURN name;
END $$;
