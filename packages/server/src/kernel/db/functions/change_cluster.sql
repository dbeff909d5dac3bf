-- Which cluster this is, and which of its histories: a restored copy counts transactions anew.
CREATE OR REPLACE FUNCTION svc.change_cluster() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT system_identifier::text FROM pg_control_system()) || '.' || (SELECT timeline_id::text FROM pg_control_checkpoint())
    || '.' || (SELECT oid::text FROM pg_database WHERE datname = current_database());
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN (SELECT oid::text FROM pg_database WHERE datname = current_database());
END $$;
