-- Jobs are rows under leases, as mail and messages are; the queue of the library that held them before is not needed.
-- What it still held is found again: uploads by their own rows, overviews by the next request for a tile.
CREATE TABLE svc.jobs (
  id uuid PRIMARY KEY,
  queue text NOT NULL,
  -- Only one job of a key waits or is being worked on.
  key text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  next_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  UNIQUE (queue, key)
);
CREATE INDEX ON svc.jobs (queue, next_at);

DROP SCHEMA IF EXISTS pgboss CASCADE;
