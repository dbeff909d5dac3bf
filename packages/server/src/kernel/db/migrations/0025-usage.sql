-- What each application used, by UTC day. Replicas count in memory and add up here, so a row is written every few seconds at
-- most, whatever the number of requests. Columns are those of usage/counters.ts.
CREATE TABLE svc.usage (
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  day date NOT NULL,
  requests double precision NOT NULL DEFAULT 0,
  refused double precision NOT NULL DEFAULT 0,
  bytes_out double precision NOT NULL DEFAULT 0,
  tiles_cached double precision NOT NULL DEFAULT 0,
  tiles_made double precision NOT NULL DEFAULT 0,
  tile_seconds double precision NOT NULL DEFAULT 0,
  queries double precision NOT NULL DEFAULT 0,
  query_seconds double precision NOT NULL DEFAULT 0,
  uploads double precision NOT NULL DEFAULT 0,
  invocations double precision NOT NULL DEFAULT 0,
  messages double precision NOT NULL DEFAULT 0,
  mails double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (application_id, day)
) WITH (fillfactor = 70);
CREATE INDEX ON svc.usage (day);

-- Limits of this application that differ from those of the installation; only a master key writes them.
ALTER TABLE svc.applications ADD COLUMN limits jsonb NOT NULL DEFAULT '{}';
