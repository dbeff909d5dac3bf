-- An agent's invocations and answers go with it.
CREATE OR REPLACE FUNCTION svc.forget_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM svc.agent_invocations WHERE agent_id = OLD.id;
  DELETE FROM svc.agent_answers WHERE agent_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER forget_agent AFTER DELETE ON svc.agents FOR EACH ROW EXECUTE FUNCTION svc.forget_agent();
