-- Keys are as in the answers of queries: integers beyond 2^53 are text. A single column is its value, several are an array.
CREATE OR REPLACE FUNCTION svc.change_key(relation oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN min(value) ELSE 'jsonb_build_array(' || string_agg(value, ', ' ORDER BY place) || ')' END
  FROM (
    SELECT k.place, format(CASE a.atttypid WHEN 'int8'::regtype
      THEN 'CASE WHEN t.%1$I BETWEEN -9007199254740991 AND 9007199254740991 THEN to_jsonb(t.%1$I) ELSE to_jsonb(t.%1$I::text) END'
      ELSE 'to_jsonb(t.%1$I)' END, a.attname) AS value
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE i.indrelid = relation AND i.indisprimary) AS columns
$$;
