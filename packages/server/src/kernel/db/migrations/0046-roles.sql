-- Roles of users, and what they grant besides the key behind a token; null where a role is a name for rules of datasets only.
CREATE TABLE svc.roles (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  permissions jsonb,
  -- As that of a key of the application with these permissions.
  power text GENERATED ALWAYS AS
    (CASE WHEN jsonb_typeof(permissions) = 'object' THEN svc.power_of('app', application_id, permissions, NULL, NULL, NULL) END) STORED,
  CONSTRAINT one_role_of_a_name UNIQUE (application_id, name)
);
CREATE INDEX ON svc.roles (application_id, created_at, id);
