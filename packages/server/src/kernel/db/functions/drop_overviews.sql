-- The overviews of a dataset go with it, also those that were being made when a server ended.
CREATE OR REPLACE FUNCTION svc.drop_overviews() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  found regclass;
BEGIN
  FOR found IN
    SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = svc.tenant_name(OLD.application_id) AND c.relkind = 'r'
      AND starts_with(c.relname, 'svc_ov_' || replace(OLD.id::text, '-', '') || '_')
  LOOP
    EXECUTE format('DROP TABLE %s', found);
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER drop_overviews AFTER DELETE ON svc.datasets FOR EACH ROW EXECUTE FUNCTION svc.drop_overviews();
