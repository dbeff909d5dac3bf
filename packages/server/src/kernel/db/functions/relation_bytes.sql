-- The size of a table on the disk, with its indexes if `whole`. PostgreSQL's own functions wait for whoever has locked the table, an
-- ALTER TABLE that takes an hour say, and hold a connection as long; then it is the size that the planner last saw.
CREATE OR REPLACE FUNCTION svc.relation_bytes(relation oid, whole boolean) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
BEGIN
  RETURN CASE WHEN whole THEN pg_total_relation_size(relation) ELSE pg_relation_size(relation) END;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN (SELECT c.relpages::bigint * current_setting('block_size')::bigint FROM pg_class c WHERE c.oid = relation);
END $$;
