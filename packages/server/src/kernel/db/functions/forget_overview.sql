-- Drops the overview of a dataset, and the job that would build it. Parts that are still being built are left to their job, which drops
-- them when it finds itself cancelled: waiting here for its locks could take minutes.
CREATE OR REPLACE FUNCTION svc.forget_overview(dataset uuid, application uuid) RETURNS void LANGUAGE plpgsql AS $$
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
