-- A trigger must never fail the statement that it tells of: it calls only what takes every value.
CREATE OR REPLACE FUNCTION svc.log_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
