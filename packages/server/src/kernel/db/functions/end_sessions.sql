-- However it comes about: another password or a disabled user ends all sessions, and what was mailed before. What a
-- second factor was made of goes with it.
CREATE OR REPLACE FUNCTION svc.end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- What is generated is not yet when this runs.
  has_moved boolean := lower(NEW.email COLLATE "C") <> OLD.email_key;
BEGIN
  IF NEW.email_verified AND NOT OLD.email_verified THEN
    NEW.password := COALESCE(NEW.password, NEW.pending_password);
    NEW.pending_password := NULL;
  END IF;
  IF has_moved OR (NEW.email_verified AND NOT OLD.email_verified) THEN
    NEW.verification_token := NULL;
    NEW.verification_hash := NULL;
  END IF;
  IF has_moved OR NEW.password IS DISTINCT FROM OLD.password THEN
    NEW.password_reset_token := NULL;
    NEW.password_reset_hash := NULL;
  END IF;
  IF OLD.second_factor AND NOT NEW.second_factor THEN
    NEW.code_secret := NULL;
    NEW.code_step := 0;
    NEW.recovery_digests := '{}';
  END IF;
  IF NEW.password IS DISTINCT FROM OLD.password OR (OLD.enabled AND NOT NEW.enabled) THEN
    UPDATE svc.sessions SET revoked_at = clock_timestamp()
    WHERE application_id = NEW.application_id AND user_id = NEW.id AND revoked_at IS NULL;
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER end_sessions BEFORE UPDATE ON svc.users FOR EACH ROW EXECUTE FUNCTION svc.end_sessions();
