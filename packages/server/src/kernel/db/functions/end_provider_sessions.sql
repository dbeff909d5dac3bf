-- A provider that is switched off ends the sessions that come from it. What decides whose tokens are admitted ends those of tokens, which
-- are admitted anew by the new rules; one that its user ended stays, because it says which tokens are over.
CREATE OR REPLACE FUNCTION svc.end_provider_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM svc.sessions WHERE provider_id = OLD.id;
  ELSIF NOT NEW.enabled THEN
    DELETE FROM svc.sign_in_codes WHERE provider_id = NEW.id;
    DELETE FROM svc.sessions WHERE provider_id = NEW.id AND revoked_at IS NULL;
  ELSE
    DELETE FROM svc.sessions WHERE provider_id = NEW.id AND of_token AND revoked_at IS NULL;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER end_provider_sessions AFTER DELETE OR UPDATE ON svc.oidcproviders FOR EACH ROW EXECUTE FUNCTION svc.end_provider_sessions();
