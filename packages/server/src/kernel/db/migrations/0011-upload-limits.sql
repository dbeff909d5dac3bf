-- Limits of uploads: what they may replace, files that are still arriving, and turns between applications.

-- The table that the upload was allowed to replace when it was sent, {databaseId, source}; null for a new dataset. A dataset
-- that is given another source meanwhile is not replaced.
ALTER TABLE svc.uploads ADD COLUMN replaces jsonb;

-- When an application last had its turn is read off the end of this index.
CREATE INDEX ON svc.uploads (application_id, started_at);

-- Files that are still arriving. They count against the limits of their application on every replica. A replica renews
-- heard_at while it receives; a row that is not renewed is that of a replica that has died.
CREATE TABLE svc.arriving_uploads (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  bytes bigint NOT NULL,
  heard_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON svc.arriving_uploads (application_id);
