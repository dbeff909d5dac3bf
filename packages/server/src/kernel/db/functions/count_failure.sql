-- Counts a try in every bucket, unless one of them is full: then in none, and the answer is the seconds to wait.
CREATE OR REPLACE FUNCTION svc.count_failure(buckets text[], limits integer[], seconds integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  since timestamptz := clock_timestamp() - make_interval(secs => seconds);
  wait integer;
BEGIN
  -- In one order, so that two tries never wait for each other.
  INSERT INTO svc.login_failures AS f (bucket, count, started_at)
    SELECT b, 0, clock_timestamp() FROM unnest(buckets) b ORDER BY b
    ON CONFLICT (bucket) DO UPDATE SET
      count = CASE WHEN f.started_at < since THEN 0 ELSE f.count END,
      started_at = CASE WHEN f.started_at < since THEN clock_timestamp() ELSE f.started_at END;
  SELECT max(ceil(extract(epoch FROM f.started_at - since))) INTO wait
    FROM svc.login_failures f JOIN unnest(buckets, limits) AS l(bucket, most) USING (bucket) WHERE f.count >= l.most;
  IF wait IS NULL THEN
    UPDATE svc.login_failures SET count = count + 1 WHERE bucket = ANY(buckets);
  END IF;
  RETURN wait;
END $$;
