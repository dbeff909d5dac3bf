-- Queries that people keep: SQL for a database of the application.
CREATE TABLE svc.queries (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  sql text NOT NULL,
  database_id uuid REFERENCES svc.databases ON DELETE SET NULL
);
CREATE INDEX ON svc.queries (application_id, created_at, id);
CREATE INDEX ON svc.queries (database_id);
