-- Which text of each function in functions/ this database has. Functions and triggers stand there; numbered files only alter tables.
CREATE TABLE svc.applied_functions (
  name text PRIMARY KEY,
  -- SHA-256 of the file.
  digest text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
