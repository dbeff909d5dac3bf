-- The table that an upload made for a dataset, {databaseId, destination, schema, name}: it goes with the dataset, whatever
-- source the dataset was given since. Null for datasets that were made of tables that were there before.
ALTER TABLE svc.datasets ADD COLUMN uploaded_table jsonb;

-- Uploads name users of their own application only, like datasets. Rows from before are left alone.
ALTER TABLE svc.uploads ADD CONSTRAINT known_user FOREIGN KEY (application_id, owner_id)
  REFERENCES svc.users (application_id, id) ON DELETE SET NULL (owner_id) NOT VALID;
CREATE INDEX ON svc.uploads (application_id, owner_id) WHERE owner_id IS NOT NULL;

-- Uploads from before, as far as they are still on record and their tables in the application's own schema.
UPDATE svc.datasets d SET uploaded_table = jsonb_build_object(
  'databaseId', d.database_id, 'schema', svc.tenant_name(d.application_id), 'name', d.source)
FROM svc.uploads u, jsonb_array_elements(u.results) AS result, svc.databases b
WHERE u.status = 'completed' AND NOT u.options ? 'datasetId' AND result ->> 'datasetId' = d.id::text
  AND u.application_id = d.application_id AND b.id = d.database_id AND b.type = 'internal' AND d.type = 'table'
  AND EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = svc.tenant_name(d.application_id) AND c.relname = d.source AND c.relkind = 'r');
