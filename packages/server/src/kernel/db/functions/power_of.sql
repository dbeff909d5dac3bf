-- Equal for keys that can do the same. (The clock's text form depends on the session, hence epoch.)
CREATE OR REPLACE FUNCTION svc.power_of(
  type text, application_id uuid, permissions jsonb, user_id bigint, expires_at timestamptz, allowed_origins text[]
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT md5(jsonb_build_array(type, application_id, permissions, user_id, extract(epoch FROM expires_at), allowed_origins)::text)
$$;
