-- A new application gets the base styles.
CREATE OR REPLACE FUNCTION svc.give_base_styles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.copy_base_styles(NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER give_base_styles AFTER INSERT ON svc.applications FOR EACH ROW EXECUTE FUNCTION svc.give_base_styles();
