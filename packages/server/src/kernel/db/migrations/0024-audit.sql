-- UUID version 7: it begins with the time, so that later ones sort after earlier ones.
CREATE FUNCTION svc.time_ordered_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
    substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- The audit log: who did what, when and from where; never values. It has no foreign keys: the entries of a deleted
-- application, user or key stay, for master keys, until the retention ends.
CREATE TABLE svc.audit (
  id uuid NOT NULL DEFAULT svc.time_ordered_id(),
  -- Milliseconds, as programs can say them.
  at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Null for what concerns no application.
  application_id uuid,
  actor_type text NOT NULL,
  -- The fingerprint of the key, which is a credential itself.
  actor_id text,
  user_id bigint,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text,
  target_name text,
  status smallint NOT NULL,
  request_id text,
  address text,
  user_agent text,
  changed text[] NOT NULL,
  PRIMARY KEY (at, id)
);
CREATE INDEX ON svc.audit (application_id, at, id);

-- Append-only: an entry can neither change nor go, but by svc.sweep_audit, and by nothing in its first day.
CREATE FUNCTION svc.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('svc.sweeps_audit', true) = 'on' THEN
    IF OLD.at < clock_timestamp() - interval '1 day' THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'GR409';
END $$;
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON svc.audit FOR EACH ROW EXECUTE FUNCTION svc.keep_audit();
CREATE TRIGGER keep_whole_audit BEFORE TRUNCATE ON svc.audit FOR EACH STATEMENT EXECUTE FUNCTION svc.keep_audit();

-- Retention: deletes at most so many of the entries that are older than so many days, and says how many. The permission is a
-- setting of the transaction that ends with the function: SET in the function's definition would need a superuser.
CREATE FUNCTION svc.sweep_audit(days integer, most integer) RETURNS bigint LANGUAGE plpgsql AS $$
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
