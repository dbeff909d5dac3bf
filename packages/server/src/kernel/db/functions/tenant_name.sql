-- The role and schema of an application have the same name.
CREATE OR REPLACE FUNCTION svc.tenant_name(application_id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'app_' || replace(application_id::text, '-', '')
$$;
