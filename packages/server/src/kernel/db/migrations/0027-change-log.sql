-- The change log: one row for each statement that wrote to a table which somebody follows. Tables that nobody has followed for
-- the retention carry no triggers of it, so that loading them costs nothing.
--
-- Readers take the rows below pg_snapshot_xmin in the order (xid, seq). A transaction that began earlier and commits later has a
-- smaller xid, and the horizon waits for it, so nothing is skipped; savepoints share the xid of their transaction.
CREATE TABLE svc.change_log (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  relation oid NOT NULL,
  operation text NOT NULL,
  row_count bigint,
  -- Of the primary key; null where it is absent, or where there are more than 1 000.
  keys jsonb,
  -- [srid, minX, minY, maxX, maxY], of the old rows and of the new ones; null where unknown.
  boxes jsonb,
  PRIMARY KEY (xid, seq)
);
CREATE INDEX ON svc.change_log (relation, xid, seq);

-- The tables that carry the triggers. An era is the time in which the log of a table is without a gap: another table of the same
-- name, other columns, a trigger that was missing, or another cluster (whose xids begin anew) begins another.
CREATE TABLE svc.followed_tables (
  relation oid PRIMARY KEY,
  era text NOT NULL,
  columns text NOT NULL,
  cluster text NOT NULL,
  followed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What was deleted last: whoever has read less has missed something.
CREATE TABLE svc.change_horizon (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), swept xid8 NOT NULL);
INSERT INTO svc.change_horizon (swept) VALUES ('0');

-- Keys are as in the answers of queries: integers beyond 2^53 are text. A single column is its value, several are an array.
CREATE FUNCTION svc.change_key(relation oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN min(value) ELSE 'jsonb_build_array(' || string_agg(value, ', ' ORDER BY place) || ')' END
  FROM (
    SELECT k.place, format(CASE a.atttypid WHEN 'int8'::regtype
      THEN 'CASE WHEN t.%1$I BETWEEN -9007199254740991 AND 9007199254740991 THEN to_jsonb(t.%1$I) ELSE to_jsonb(t.%1$I::text) END'
      ELSE 'to_jsonb(t.%1$I)' END, a.attname) AS value
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = relation AND i.indisprimary) AS columns
$$;

-- A trigger must never fail the statement that it tells of: it calls only what takes every value.
CREATE FUNCTION svc.log_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  max_keys constant integer := 1000;
  max_key_bytes constant integer := 65536;
  sides text[] := CASE TG_OP WHEN 'INSERT' THEN '{new_rows}' WHEN 'DELETE' THEN '{old_rows}' ELSE '{new_rows,old_rows}' END;
  side text;
  key text;
  geometries text;
  row_count bigint;
  keys jsonb;
  boxes jsonb := '[]';
  box jsonb;
  is_mixed boolean;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO svc.change_log (relation, operation) VALUES (TG_RELID, 'truncate');
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT count(*) FROM %I', sides[1]) INTO row_count;
  IF row_count = 0 THEN RETURN NULL; END IF;

  key := svc.change_key(TG_RELID);
  IF key IS NOT NULL AND row_count <= max_keys THEN
    EXECUTE format('SELECT jsonb_agg(DISTINCT k) FROM (%s) AS found (k)',
      (SELECT string_agg(format('SELECT %s FROM %I AS t', key, s), ' UNION ALL ') FROM unnest(sides) AS s)) INTO keys;
    IF octet_length(keys::text) > max_key_bytes THEN keys := NULL; END IF;
  END IF;

  FOREACH side IN ARRAY sides LOOP
    SELECT string_agg(format('SELECT ST_SRID(t.%1$I::geometry), t.%1$I::geometry::box2d FROM %2$I AS t', a.attname, side), ' UNION ALL ')
    INTO geometries FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND NOT a.attisdropped AND y.typname IN ('geometry', 'geography');
    CONTINUE WHEN geometries IS NULL;
    EXECUTE format('SELECT jsonb_build_array(min(s), min(ST_XMin(b)), min(ST_YMin(b)), max(ST_XMax(b)), max(ST_YMax(b))), min(s) <> max(s)
      FROM (%s) AS found (s, b) WHERE b IS NOT NULL HAVING count(*) > 0', geometries) INTO box, is_mixed;
    IF is_mixed THEN boxes := NULL;
    ELSIF box IS NOT NULL AND NOT coalesce(boxes @> jsonb_build_array(box), false) THEN boxes := boxes || jsonb_build_array(box);
    END IF;
  END LOOP;

  INSERT INTO svc.change_log (relation, operation, row_count, keys, boxes)
  VALUES (TG_RELID, lower(TG_OP), row_count, keys, boxes);
  RETURN NULL;
END $$;

-- Which cluster this is, and which of its histories: a restored copy counts transactions anew.
CREATE FUNCTION svc.change_cluster() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT system_identifier::text FROM pg_control_system()) || '.' || (SELECT timeline_id::text FROM pg_control_checkpoint())
    || '.' || (SELECT oid::text FROM pg_database WHERE datname = current_database());
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN (SELECT oid::text FROM pg_database WHERE datname = current_database());
END $$;

-- A table and all that hold a part of its rows: what is written to a part is logged there.
CREATE FUNCTION svc.change_tree(root oid) RETURNS SETOF oid LANGUAGE sql STABLE AS $$
  WITH RECURSIVE tree (relation) AS (
    SELECT root UNION SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.relation)
  SELECT relation FROM tree
$$;

CREATE FUNCTION svc.has_change_triggers(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT count(*) = 4 FROM pg_trigger t
  WHERE t.tgrelid = relation AND t.tgname IN ('svc_log_insert', 'svc_log_update', 'svc_log_delete', 'svc_log_truncate') AND t.tgenabled IN ('O', 'A')
$$;

-- How it stands with the log of a table: no row if there is no such table, no era if the log has a gap.
CREATE FUNCTION svc.followed(schema text, table_name text)
RETURNS TABLE (root oid, era text, relations oid[], columns text, is_plain boolean, is_secured boolean, is_readable boolean)
LANGUAGE sql STABLE AS $$
  SELECT found.root, f.era, found.relations, found.columns, found.is_plain, found.is_secured,
    has_table_privilege(schema, found.root, 'SELECT')
  FROM (
    SELECT c.oid AS root, tree.*,
      (SELECT md5(string_agg(concat_ws(' ', a.attnum, a.atttypid, a.atttypmod, a.attname), ',' ORDER BY a.attnum))
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT array_agg(p.oid) AS relations, bool_and(p.relkind IN ('r', 'p')) AS is_plain, bool_or(p.relrowsecurity) AS is_secured,
        bool_and(svc.has_change_triggers(p.oid)) AS is_logged
      FROM svc.change_tree(c.oid) AS part JOIN pg_class p ON p.oid = part) AS tree
    WHERE n.nspname = schema AND c.relname = table_name) AS found
  LEFT JOIN svc.followed_tables f ON f.relation = found.root AND f.columns = found.columns AND found.is_logged
    AND f.cluster = svc.change_cluster()
$$;

-- Begins to log the changes of a table, or goes on. A table that is locked fails within half a second, for another attempt.
CREATE FUNCTION svc.follow_table(schema text, table_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  state record;
  part oid;
BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('svc.follow_table ' || schema || ' ' || table_name, 0));
  SELECT * INTO state FROM svc.followed(schema, table_name);
  IF state.root IS NULL OR NOT state.is_plain THEN RETURN; END IF;
  IF state.era IS NULL THEN
    FOREACH part IN ARRAY state.relations LOOP
      CONTINUE WHEN svc.has_change_triggers(part);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_insert AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_update AFTER UPDATE ON %s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_delete AFTER DELETE ON %s REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('CREATE OR REPLACE TRIGGER svc_log_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION svc.log_change()', part::regclass);
      EXECUTE format('ALTER TABLE %1$s ENABLE TRIGGER svc_log_insert, ENABLE TRIGGER svc_log_update, ENABLE TRIGGER svc_log_delete, ENABLE TRIGGER svc_log_truncate', part::regclass);
    END LOOP;
  END IF;
  INSERT INTO svc.followed_tables AS f (relation, era, columns, cluster)
  VALUES (state.root, coalesce(state.era, substr(md5(gen_random_uuid()::text), 1, 16)), state.columns, svc.change_cluster())
  ON CONFLICT (relation) DO UPDATE SET era = EXCLUDED.era, columns = EXCLUDED.columns, cluster = EXCLUDED.cluster, followed_at = clock_timestamp();
END $$;

-- Boxes as [west, south, east, north]; null where one cannot be placed on the earth.
CREATE FUNCTION svc.lng_lat_boxes(boxes jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  box jsonb;
  placed jsonb := '[]';
  shape geometry;
BEGIN
  IF boxes IS NULL THEN RETURN NULL; END IF;
  FOR box IN SELECT * FROM jsonb_array_elements(boxes) LOOP
    shape := ST_MakeEnvelope((box->>1)::float8, (box->>2)::float8, (box->>3)::float8, (box->>4)::float8, (box->>0)::int);
    IF ST_SRID(shape) <> 4326 THEN
      -- The sides of a box are curves elsewhere.
      shape := ST_Transform(ST_Segmentize(shape, greatest(ST_Perimeter(shape) / 64, 1e-9)), 4326);
      shape := ST_Expand(shape, (ST_XMax(shape) - ST_XMin(shape)) / 100, (ST_YMax(shape) - ST_YMin(shape)) / 100);
    END IF;
    placed := placed || jsonb_build_array(jsonb_build_array(ST_XMin(shape), ST_YMin(shape), ST_XMax(shape), ST_YMax(shape)));
  END LOOP;
  RETURN placed;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;

-- Deletes what is older than the retention, at most `batch` rows, and lets go of tables that nobody has followed for as long.
-- A table that is locked is left for the next time.
CREATE FUNCTION svc.sweep_changes(retention interval, batch integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  gone integer;
  last xid8;
  root oid;
  part oid;
BEGIN
  WITH oldest AS (SELECT xid, seq FROM svc.change_log ORDER BY xid, seq LIMIT batch FOR UPDATE SKIP LOCKED),
    deleted AS (DELETE FROM svc.change_log l USING oldest o WHERE l.xid = o.xid AND l.seq = o.seq
      AND l.at < clock_timestamp() - retention RETURNING l.xid)
  SELECT count(*), max(xid::text::numeric)::text::xid8 INTO gone, last FROM deleted;
  IF gone > 0 THEN UPDATE svc.change_horizon SET swept = last WHERE swept < last; END IF;

  FOR root IN SELECT relation FROM svc.followed_tables WHERE followed_at < clock_timestamp() - retention LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '500ms', true);
      DELETE FROM svc.followed_tables WHERE relation = root AND followed_at < clock_timestamp() - retention;
      CONTINUE WHEN NOT FOUND;
      FOR part IN SELECT c.oid FROM svc.change_tree(root) AS p JOIN pg_class c ON c.oid = p LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_insert ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_update ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_delete ON %s', part::regclass);
        EXECUTE format('DROP TRIGGER IF EXISTS svc_log_truncate ON %s', part::regclass);
      END LOOP;
    EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error OR undefined_table THEN
      CONTINUE;
    END;
  END LOOP;
  RETURN gone;
END $$;
