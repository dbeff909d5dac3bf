-- The last one made the default is; the one before no longer. Two at once take turns.
CREATE OR REPLACE FUNCTION svc.move_default_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.default_database ' || NEW.application_id, 0));
  UPDATE svc.databases SET "default" = false, revision = revision + 1
  WHERE application_id = NEW.application_id AND "default" AND id <> NEW.id;
  RETURN NEW;
END $$;

CREATE TRIGGER insert_default_database BEFORE INSERT ON svc.databases
  FOR EACH ROW WHEN (new."default") EXECUTE FUNCTION svc.move_default_database();

-- Not where it is the default already: whoever held that row would wait for the lock, and the lock's holder for the row.
CREATE TRIGGER move_default_database BEFORE UPDATE OF "default" ON svc.databases
  FOR EACH ROW WHEN ((new."default" AND (NOT old."default"))) EXECUTE FUNCTION svc.move_default_database();
