-- Mail that goes out and messages to contact points. Both are rows that are sent until it works or is given up:
-- `attempts` tells what was tried, `next_at` when it is tried next, `claim` who is trying now and until when.

CREATE TABLE svc.outbox (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  template text NOT NULL,
  recipients text[] NOT NULL,
  -- Sealed, because mail carries links that are as good as passwords; gone when the mail is.
  content text,
  -- `kept`: there is no server to send it, so it stays to be read here.
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'kept')),
  attempts jsonb NOT NULL DEFAULT '[]',
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claim uuid,
  claimed_until timestamptz
);
CREATE INDEX ON svc.outbox (created_at, id);
CREATE INDEX ON svc.outbox (application_id, created_at, id);
CREATE INDEX ON svc.outbox (next_at) WHERE status = 'pending';

CREATE TABLE svc.contactpoints (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  type text NOT NULL,
  settings jsonb NOT NULL,
  -- The secret ones of the settings, sealed together.
  secrets text,
  secure_fields jsonb NOT NULL,
  enabled boolean NOT NULL,
  last_delivery_at timestamptz,
  last_status text
);
CREATE INDEX ON svc.contactpoints (application_id, created_at, id);

CREATE TABLE svc.deliveries (
  id uuid PRIMARY KEY,
  contact_point_id uuid NOT NULL REFERENCES svc.contactpoints ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  idempotency_key text,
  -- Tells whether two requests with one key are the same, also when the message is gone.
  message_hash text NOT NULL,
  -- Gone when it is delivered or given up.
  message jsonb,
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts jsonb NOT NULL DEFAULT '[]',
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claim uuid,
  claimed_until timestamptz,
  UNIQUE (contact_point_id, idempotency_key)
);
CREATE INDEX ON svc.deliveries (contact_point_id, created_at, id);
CREATE INDEX ON svc.deliveries (created_at);
CREATE INDEX ON svc.deliveries (next_at) WHERE status = 'pending';
