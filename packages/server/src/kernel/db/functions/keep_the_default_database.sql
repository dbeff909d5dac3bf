-- There is always a default; only with its application it goes.
CREATE OR REPLACE FUNCTION svc.keep_the_default_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM svc.applications WHERE id = OLD.application_id) THEN
    RAISE EXCEPTION 'The default database cannot be deleted: make another one the default first.' USING ERRCODE = 'GR409';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER keep_the_default_database BEFORE DELETE ON svc.databases
  FOR EACH ROW WHEN (old."default") EXECUTE FUNCTION svc.keep_the_default_database();
