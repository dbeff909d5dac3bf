-- How it stands with the log of a table: no row if there is no such table, no era if the log has a gap. `columns` is a digest of its columns, and
-- the rows of its triggers: whoever disables one and enables it again has left a gap. (Earlier versions recorded the columns alone.)
CREATE OR REPLACE FUNCTION svc.followed(schema text, table_name text)
RETURNS TABLE (root oid, era text, relations oid[], columns text, is_plain boolean, is_secured boolean, is_readable boolean)
LANGUAGE sql STABLE AS $$
  SELECT found.root, f.era, found.relations, found.columns, found.is_plain, found.is_secured,
    has_table_privilege(schema, found.root, 'SELECT')
  FROM (
    SELECT c.oid AS root, tree.*,
      (SELECT md5(string_agg(concat_ws(' ', a.attnum, a.atttypid, a.atttypmod, a.attname), ',' ORDER BY a.attnum))
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) || '.' ||
      (SELECT coalesce(sum(t.xmin::text::int8), 0) FROM pg_trigger t
       WHERE t.tgrelid = ANY (tree.relations) AND t.tgname IN ('svc_log_insert', 'svc_log_update', 'svc_log_delete', 'svc_log_truncate')) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT array_agg(p.oid) AS relations, bool_and(p.relkind IN ('r', 'p')) AS is_plain, bool_or(p.relrowsecurity) AS is_secured,
        bool_and(svc.has_change_triggers(p.oid)) AS is_logged
      FROM svc.change_tree(c.oid) AS part JOIN pg_class p ON p.oid = part) AS tree
    WHERE n.nspname = schema AND c.relname = table_name) AS found
  LEFT JOIN svc.followed_tables f ON f.relation = found.root AND f.columns IN (found.columns, split_part(found.columns, '.', 1))
    AND found.is_logged
    AND f.cluster = svc.change_cluster()
$$;
