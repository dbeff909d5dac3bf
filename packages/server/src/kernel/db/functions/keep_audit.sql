-- Append-only: an entry can neither change nor go, but by svc.sweep_audit, and by nothing in its first day.
CREATE OR REPLACE FUNCTION svc.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('svc.sweeps_audit', true) = 'on' THEN
    IF OLD.at < clock_timestamp() - interval '1 day' THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'GR409';
END $$;

CREATE TRIGGER keep_audit BEFORE DELETE OR UPDATE ON svc.audit FOR EACH ROW EXECUTE FUNCTION svc.keep_audit();

CREATE TRIGGER keep_whole_audit BEFORE TRUNCATE ON svc.audit FOR EACH STATEMENT EXECUTE FUNCTION svc.keep_audit();
