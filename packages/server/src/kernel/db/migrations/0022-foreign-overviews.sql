-- Overviews of tables on other servers, for datasets with metadata.tiles.overviews. They go, and the job that builds them, when
-- that is switched off, or when the dataset or its database leads elsewhere.

-- Parts that are still being built are left to their job, which drops them when it finds itself cancelled: waiting here for its
-- locks could take minutes.
CREATE FUNCTION svc.forget_overview(dataset uuid, application uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found regclass;
BEGIN
  DELETE FROM svc.jobs WHERE queue = 'foreign-overviews' AND key = dataset::text;
  DELETE FROM svc.overviews WHERE dataset_id = dataset;
  FOR found IN
    SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = svc.tenant_name(application) AND c.relkind = 'r'
      AND c.relname ~ ('^svc_ov_' || replace(dataset::text, '-', '') || '_[0-9]+$')
  LOOP
    EXECUTE format('DROP TABLE %s', found);
  END LOOP;
END $$;

CREATE FUNCTION svc.forget_overview_of_dataset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM svc.databases WHERE id = OLD.database_id AND type <> 'internal') THEN
    PERFORM svc.forget_overview(OLD.id, OLD.application_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_overview AFTER UPDATE ON svc.datasets FOR EACH ROW
  WHEN ((OLD.metadata #> '{tiles,overviews}', OLD.type, OLD.source, OLD.database_id)
    IS DISTINCT FROM (NEW.metadata #> '{tiles,overviews}', NEW.type, NEW.source, NEW.database_id))
  EXECUTE FUNCTION svc.forget_overview_of_dataset();

CREATE FUNCTION svc.forget_overviews_of_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM svc.forget_overview(id, application_id) FROM svc.datasets WHERE database_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_overviews AFTER UPDATE ON svc.databases FOR EACH ROW
  WHEN ((OLD.type, OLD.host, OLD.port, OLD."user", OLD.db) IS DISTINCT FROM (NEW.type, NEW.host, NEW.port, NEW."user", NEW.db))
  EXECUTE FUNCTION svc.forget_overviews_of_database();
