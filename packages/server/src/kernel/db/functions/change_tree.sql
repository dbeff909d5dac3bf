-- A table and all that hold a part of its rows: what is written to a part is logged there.
CREATE OR REPLACE FUNCTION svc.change_tree(root oid) RETURNS SETOF oid LANGUAGE sql STABLE AS $$
  WITH RECURSIVE tree (relation) AS (
    SELECT root UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relation)
  SELECT relation FROM tree
$$;
