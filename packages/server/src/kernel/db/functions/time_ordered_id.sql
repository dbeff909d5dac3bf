-- UUID version 7: it begins with the time, so that later ones sort after earlier ones.
CREATE OR REPLACE FUNCTION svc.time_ordered_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
    substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;
