-- The overview of an external table is dropped when its dataset asks for another, or reads another table.
CREATE OR REPLACE FUNCTION svc.forget_overview_of_dataset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM svc.databases WHERE id = OLD.database_id AND type <> 'internal') THEN
    PERFORM svc.forget_overview(OLD.id, OLD.application_id);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER forget_overview AFTER UPDATE ON svc.datasets FOR EACH ROW
  WHEN ((((((old.metadata #> '{tiles,overviews}'::text[]) IS DISTINCT FROM (new.metadata #> '{tiles,overviews}'::text[]))
    OR (old.type IS DISTINCT FROM new.type)) OR (old.source IS DISTINCT FROM new.source))
    OR (old.database_id IS DISTINCT FROM new.database_id)))
  EXECUTE FUNCTION svc.forget_overview_of_dataset();
