-- Webhook contact points that are told of the changes of a dataset. A row knows how far in the change log its receiver was told;
-- it moves on in the transaction that makes the delivery, by the one replica that holds its lease.
CREATE TABLE svc.change_bindings (
  id uuid PRIMARY KEY,
  contact_point_id uuid NOT NULL REFERENCES svc.contactpoints ON DELETE CASCADE,
  dataset_id uuid NOT NULL REFERENCES svc.datasets ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  operations text[] NOT NULL,
  filter jsonb,
  -- West, south, east, north.
  bbox float8[],
  debounce_seconds integer NOT NULL,
  -- The place in the log, of one era of the table (0027-change-log.sql), and the table with its parts.
  era text NOT NULL,
  xid xid8 NOT NULL,
  seq bigint NOT NULL,
  relations oid[] NOT NULL,
  followed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The last delivery: while it is pending there is no other, so that a dead receiver has one.
  delivery_id uuid,
  -- Why changes are not told, or not filtered.
  problem text,
  -- Not before this time.
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- At this time even if there is nothing new in the log: the table may be another.
  check_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claim uuid,
  claimed_until timestamptz,
  UNIQUE (contact_point_id, dataset_id)
);
CREATE INDEX ON svc.change_bindings (dataset_id);
