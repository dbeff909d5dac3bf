-- The version of a table's data: how many noted changes there are and their sum change with every commit, whatever the order of the
-- commits. Of the whole schema where it is not known which tables a view or a query reads.
CREATE OR REPLACE FUNCTION svc.data_version(schema text, relation text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT count(*) || '.' || coalesce(sum(id), 0) FROM svc.data_changes
  WHERE schema_name = schema AND (relation IS NULL OR table_name = relation)
$$;
