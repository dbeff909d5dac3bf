-- About how many rows the table of a dataset has: what its database estimated when the dataset was last stored, or what an
-- upload counted. Null where that is not known.
ALTER TABLE svc.datasets ADD COLUMN row_estimate bigint;

-- Of datasets from before: tables in the application's own schema.
UPDATE svc.datasets d SET row_estimate = c.reltuples
FROM svc.databases b, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE b.id = d.database_id AND b.type = 'internal' AND d.type = 'table' AND n.nspname = svc.tenant_name(d.application_id)
  AND c.relname = d.source AND c.relkind IN ('r', 'm') AND NOT c.relrowsecurity AND c.reltuples >= 0;
