-- Whether a table carries all triggers of the change log, and they fire.
CREATE OR REPLACE FUNCTION svc.has_change_triggers(relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT count(*) = 4 FROM pg_trigger t
  WHERE t.tgrelid = relation AND t.tgname IN ('svc_log_insert', 'svc_log_update', 'svc_log_delete', 'svc_log_truncate') AND t.tgenabled IN ('O', 'A')
$$;
