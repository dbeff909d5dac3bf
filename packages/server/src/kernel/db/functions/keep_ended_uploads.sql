-- What has ended stays as it ended.
CREATE OR REPLACE FUNCTION svc.keep_ended_uploads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The upload has ended.' USING ERRCODE = 'GR409';
END $$;

CREATE TRIGGER keep_ended_uploads BEFORE UPDATE OF status ON svc.uploads FOR EACH ROW
  WHEN (((old.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (new.status <> old.status)))
  EXECUTE FUNCTION svc.keep_ended_uploads();
