-- Sets the value at a path. Objects that are missing on the way are made; what is neither object nor array stays.
CREATE OR REPLACE FUNCTION svc.json_set(target jsonb, path text[], value jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  key text := path[1];
  size int;
BEGIN
  IF cardinality(path) = 0 THEN RETURN value; END IF;
  IF target IS NULL OR jsonb_typeof(target) = 'null' THEN
    RETURN jsonb_build_object(key, svc.json_set(NULL, path[2:], value));
  ELSIF jsonb_typeof(target) = 'object' THEN
    RETURN target || jsonb_build_object(key, svc.json_set(target -> key, path[2:], value));
  ELSIF jsonb_typeof(target) = 'array' THEN
    size := jsonb_array_length(target);
    -- As everywhere in PostgreSQL, -1 is the last item.
    IF key ~ '^-\d{1,6}$' THEN key := size + key::int; END IF;
    IF key !~ '^\d{1,6}$' OR key::int > size THEN
      RAISE EXCEPTION 'The key has "%" where there is a list of % items. Use an index from 0 to %, or a negative one that counts from the end.',
        path[1], size, size USING ERRCODE = 'GR400';
    ELSIF key::int = size THEN
      RETURN target || jsonb_build_array(svc.json_set(NULL, path[2:], value));
    END IF;
    RETURN jsonb_set(target, ARRAY[key], svc.json_set(target -> key::int, path[2:], value));
  END IF;
  RAISE EXCEPTION 'The key has "%" below a value that is neither an object nor a list. Replace that value first.', key
    USING ERRCODE = 'GR400';
END $$;
