-- Retention: deletes at most so many of the entries that are older than so many days, and says how many. The permission is a
-- setting of the transaction that ends with the function: SET in the function's definition would need a superuser.
CREATE OR REPLACE FUNCTION svc.sweep_audit(days integer, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM set_config('svc.sweeps_audit', 'on', true);
  WITH old AS (
    SELECT at, id FROM svc.audit WHERE at < now() - make_interval(days => days)
    ORDER BY at, id LIMIT most FOR UPDATE SKIP LOCKED),
  deleted AS (DELETE FROM svc.audit a USING old WHERE a.at = old.at AND a.id = old.id RETURNING 1)
  SELECT count(*) INTO gone FROM deleted;
  PERFORM set_config('svc.sweeps_audit', 'off', true);
  RETURN gone;
END $$;
