-- Everything the role owns or may use is in its schema, but for the right to connect. (DROP OWNED would need us to be
-- a member of the role, which only a superuser is.)
CREATE OR REPLACE FUNCTION svc.drop_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
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
