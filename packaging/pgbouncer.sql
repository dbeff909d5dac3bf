-- For PgBouncer, in the database of Graticule, by a superuser: it may ask for the logins of applications and of nobody else.
-- Before: CREATE ROLE pgbouncer LOGIN PASSWORD '…'. That role and the one of DATABASE_URL are in /etc/pgbouncer/userlist.txt.
CREATE SCHEMA pgbouncer;
CREATE FUNCTION pgbouncer.login_of(login text, OUT name text, OUT secret text) LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog AS $$
  SELECT rolname::text, rolpassword FROM pg_authid WHERE rolname = login AND starts_with(login, 'app_') AND rolcanlogin AND NOT rolsuper
$$;
REVOKE ALL ON FUNCTION pgbouncer.login_of(text) FROM PUBLIC;
GRANT USAGE ON SCHEMA pgbouncer TO pgbouncer;
GRANT EXECUTE ON FUNCTION pgbouncer.login_of(text) TO pgbouncer;
