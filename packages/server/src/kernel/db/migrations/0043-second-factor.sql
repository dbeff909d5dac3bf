-- What a user tells sessions apart by.
ALTER TABLE svc.sessions ADD COLUMN user_agent text NOT NULL DEFAULT '';
ALTER TABLE svc.sessions ADD COLUMN seen_at timestamptz;

-- The codes of an authenticator: their secret (sealed, and without effect until second_factor), the step of the last code that was taken, and
-- keyed digests of the recovery codes that are left.
ALTER TABLE svc.users ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
ALTER TABLE svc.users ADD COLUMN code_secret text;
ALTER TABLE svc.users ADD COLUMN code_step bigint NOT NULL DEFAULT 0;
ALTER TABLE svc.users ADD COLUMN recovery_digests text[] NOT NULL DEFAULT '{}';
