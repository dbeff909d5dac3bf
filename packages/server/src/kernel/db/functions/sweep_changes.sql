-- Deletes what could be told for longer than the retention, at most `batch` rows, and lets go of tables that nobody has followed for as
-- long. A table that is locked is left for the next time.
CREATE OR REPLACE FUNCTION svc.sweep_changes(retention interval, batch integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  here constant text := svc.change_cluster();
  seen record;
  next_xid constant xid8 := pg_snapshot_xmax(pg_current_snapshot());
  gone integer;
  last xid8;
  root oid;
  part oid;
BEGIN
  INSERT INTO svc.change_horizons (cluster, horizon)
  SELECT here, pg_snapshot_xmin(pg_current_snapshot())
  WHERE NOT EXISTS (SELECT FROM svc.change_horizons h WHERE h.cluster = here AND h.at > clock_timestamp() - retention / 24)
  ON CONFLICT DO NOTHING;
  SELECT h.at, h.horizon INTO seen FROM svc.change_horizons h
  WHERE h.cluster = here AND h.at <= clock_timestamp() - retention ORDER BY h.at DESC LIMIT 1;
  DELETE FROM svc.change_horizons h WHERE h.cluster <> here OR h.at < seen.at;

  WITH oldest AS (SELECT xid, seq FROM svc.change_log WHERE xid < seen.horizon ORDER BY xid, seq LIMIT batch FOR UPDATE SKIP LOCKED),
    deleted AS (DELETE FROM svc.change_log l USING oldest o WHERE l.xid = o.xid AND l.seq = o.seq RETURNING l.xid)
  SELECT count(*), max(xid::text::numeric)::text::xid8 INTO gone, last FROM deleted;
  IF gone > 0 THEN UPDATE svc.change_horizon SET swept = last WHERE swept < last; END IF;

  -- What another cluster has logged, in a copy of its database.
  DELETE FROM svc.change_log WHERE xid >= next_xid AND at < clock_timestamp() - retention;
  UPDATE svc.change_horizon SET swept = '0' WHERE swept >= next_xid;

  FOR root IN SELECT relation FROM svc.followed_tables WHERE followed_at < clock_timestamp() - retention LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      DELETE FROM svc.followed_tables WHERE relation = root AND followed_at < clock_timestamp() - retention;
      CONTINUE WHEN NOT FOUND;
      FOR part IN SELECT c.oid FROM svc.change_tree(root) AS p JOIN pg_class c ON c.oid = p LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_insert ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_update ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_delete ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_truncate ON %s', part::regclass);
      END LOOP;
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error OR undefined_table OR syntax_error THEN
      CONTINUE;
    END;
  END LOOP;
  RETURN gone;
END $$;
