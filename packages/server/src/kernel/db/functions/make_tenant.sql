-- A new application gets its role and schema.
CREATE OR REPLACE FUNCTION svc.make_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.create_tenant(NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER make_tenant AFTER INSERT ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.make_tenant();
