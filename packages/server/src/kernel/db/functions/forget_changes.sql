-- What an application noted goes with it.
CREATE OR REPLACE FUNCTION svc.forget_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM svc.data_changes WHERE schema_name = svc.tenant_name(OLD.id);
  RETURN NULL;
END $$;

CREATE TRIGGER forget_changes AFTER DELETE ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.forget_changes();
