-- The overviews of external tables are dropped when their database is another.
CREATE OR REPLACE FUNCTION svc.forget_overviews_of_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.forget_overview(id, application_id) FROM svc.datasets WHERE database_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER forget_overviews AFTER UPDATE ON svc.databases FOR EACH ROW
  WHEN ((((((old.type IS DISTINCT FROM new.type) OR (old.host IS DISTINCT FROM new.host)) OR (old.port IS DISTINCT FROM new.port))
    OR (old."user" IS DISTINCT FROM new."user")) OR (old.db IS DISTINCT FROM new.db)))
  EXECUTE FUNCTION svc.forget_overviews_of_database();
