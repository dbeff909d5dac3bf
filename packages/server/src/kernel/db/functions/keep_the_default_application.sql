-- The default application stays.
CREATE OR REPLACE FUNCTION svc.keep_the_default_application() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The default application cannot be deleted.' USING ERRCODE = 'GR409';
END $$;

CREATE TRIGGER keep_the_default_application BEFORE DELETE ON svc.applications
  FOR EACH ROW WHEN (old.is_default) EXECUTE FUNCTION svc.keep_the_default_application();
