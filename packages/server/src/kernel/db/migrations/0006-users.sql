-- The people of an application, what they sign in with, and the keys that sign their tokens.

CREATE TABLE svc.users (
  -- A number that a JSON number can hold.
  id bigint PRIMARY KEY CHECK (id BETWEEN 1 AND 9007199254740991),
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  email text NOT NULL,
  -- Only ASCII letters are folded: two addresses that merely look alike stay two.
  email_key text NOT NULL GENERATED ALWAYS AS (lower(email COLLATE "C")) STORED,
  first_name text NOT NULL DEFAULT '',
  last_name text NOT NULL DEFAULT '',
  roles text[] NOT NULL DEFAULT '{}',
  email_verified boolean NOT NULL DEFAULT false,
  enabled boolean NOT NULL DEFAULT true,
  -- argon2id. Without one nobody can log in; such a user is one who may sign up.
  password text,
  -- The password of a sign-up, which counts once the address is confirmed.
  pending_password text,
  -- One-time tokens: the hash finds them, the sealed copy is for those who may see them.
  verification_token text,
  verification_hash bytea,
  verification_expires_at timestamptz,
  password_reset_token text,
  password_reset_hash bytea,
  password_reset_expires_at timestamptz,
  UNIQUE (application_id, email_key),
  UNIQUE (application_id, id)
);
CREATE INDEX ON svc.users (application_id, created_at, id);
CREATE INDEX ON svc.users (verification_hash) WHERE verification_hash IS NOT NULL;

-- One row a refresh token. Tokens that followed one another by rotation are a family, which lives and ends as one.
CREATE TABLE svc.sessions (
  hash bytea PRIMARY KEY,
  family uuid NOT NULL,
  user_id bigint NOT NULL,
  application_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  rotated_at timestamptz,
  revoked_at timestamptz,
  FOREIGN KEY (application_id, user_id) REFERENCES svc.users (application_id, id) ON DELETE CASCADE
);
CREATE INDEX ON svc.sessions (family);
CREATE INDEX ON svc.sessions (application_id, user_id);
CREATE INDEX ON svc.sessions (expires_at);

-- However it comes about: another password or a disabled user ends all sessions, and what was mailed before.
CREATE FUNCTION svc.end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- What is generated is not yet when this runs.
  has_moved boolean := lower(NEW.email COLLATE "C") <> OLD.email_key;
BEGIN
  IF NEW.email_verified AND NOT OLD.email_verified THEN
    NEW.password := COALESCE(NEW.password, NEW.pending_password);
    NEW.pending_password := NULL;
  END IF;
  IF has_moved OR (NEW.email_verified AND NOT OLD.email_verified) THEN
    NEW.verification_token := NULL;
    NEW.verification_hash := NULL;
  END IF;
  IF has_moved OR NEW.password IS DISTINCT FROM OLD.password THEN
    NEW.password_reset_token := NULL;
    NEW.password_reset_hash := NULL;
  END IF;
  IF NEW.password IS DISTINCT FROM OLD.password OR (OLD.enabled AND NOT NEW.enabled) THEN
    UPDATE svc.sessions SET revoked_at = clock_timestamp()
    WHERE application_id = NEW.application_id AND user_id = NEW.id AND revoked_at IS NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER end_sessions BEFORE UPDATE ON svc.users FOR EACH ROW EXECUTE FUNCTION svc.end_sessions();

-- Keys and data name users of their own application only. Rows from before there were users are left alone.
ALTER TABLE svc.apikeys ADD CONSTRAINT known_user FOREIGN KEY (application_id, user_id)
  REFERENCES svc.users (application_id, id) ON DELETE CASCADE NOT VALID;
CREATE INDEX ON svc.apikeys (application_id, user_id) WHERE user_id IS NOT NULL;
ALTER TABLE svc.datasets ADD CONSTRAINT known_user FOREIGN KEY (application_id, owner_id)
  REFERENCES svc.users (application_id, id) ON DELETE SET NULL (owner_id) NOT VALID;
CREATE INDEX ON svc.datasets (application_id, owner_id) WHERE owner_id IS NOT NULL;

-- What signs access tokens. The private part is sealed.
CREATE TABLE svc.token_keys (
  kid text PRIMARY KEY,
  public jsonb NOT NULL,
  private text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  retired_at timestamptz
);
CREATE UNIQUE INDEX one_current_token_key ON svc.token_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

-- Failed tries, counted for all replicas. A window begins with its first failure.
CREATE TABLE svc.login_failures (
  bucket text PRIMARY KEY,
  count integer NOT NULL,
  started_at timestamptz NOT NULL
);
CREATE INDEX ON svc.login_failures (started_at);

-- Counts a try in every bucket, unless one of them is full: then in none, and the answer is the seconds to wait.
CREATE FUNCTION svc.count_failure(buckets text[], limits integer[], seconds integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  since timestamptz := clock_timestamp() - make_interval(secs => seconds);
  wait integer;
BEGIN
  -- In one order, so that two tries never wait for each other.
  INSERT INTO svc.login_failures AS f (bucket, count, started_at)
    SELECT b, 0, clock_timestamp() FROM unnest(buckets) b ORDER BY b
    ON CONFLICT (bucket) DO UPDATE SET
      count = CASE WHEN f.started_at < since THEN 0 ELSE f.count END,
      started_at = CASE WHEN f.started_at < since THEN clock_timestamp() ELSE f.started_at END;
  SELECT max(ceil(extract(epoch FROM f.started_at - since))) INTO wait
    FROM svc.login_failures f JOIN unnest(buckets, limits) AS l(bucket, most) USING (bucket) WHERE f.count >= l.most;
  IF wait IS NULL THEN
    UPDATE svc.login_failures SET count = count + 1 WHERE bucket = ANY(buckets);
  END IF;
  RETURN wait;
END $$;
