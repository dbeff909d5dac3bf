-- However it comes about, by deletion of the key or of its application: one master key is always left.
CREATE OR REPLACE FUNCTION svc.keep_a_master_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gone WHERE type = 'master') THEN
    -- Two deletions at once must not each count on the other's key.
    PERFORM pg_advisory_xact_lock(hashtext('svc.keep_a_master_key'));
    IF NOT EXISTS (SELECT FROM svc.apikeys WHERE type = 'master') THEN
      RAISE EXCEPTION 'The last master key cannot be deleted: make another one first.' USING ERRCODE = 'GR409';
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER keep_a_master_key AFTER DELETE ON svc.apikeys
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION svc.keep_a_master_key();
