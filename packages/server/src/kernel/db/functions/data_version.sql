-- The version of a table's data: how many noted changes there are and their sum change with every commit, whatever the order of the
-- commits, and so does the row of the trigger that notes them, when somebody drops, disables or enables it: what was written meanwhile
-- was not noted. Of the whole schema where it is not known which tables a view or a query reads.
CREATE OR REPLACE FUNCTION svc.data_version(schema text, relation text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT count(*) || '.' || coalesce(sum(id), 0) || '.' || (
    SELECT coalesce(sum(t.xmin::text::int8), 0) FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
    JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = 'svc_note_change'
    WHERE n.nspname = schema AND (relation IS NULL OR c.relname = relation))
  FROM svc.data_changes WHERE schema_name = schema AND (relation IS NULL OR table_name = relation)
$$;
