-- Providers of OpenID Connect, by which users of an application sign in. The secret is sealed.
CREATE TABLE svc.oidcproviders (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  client_secret text,
  client_secret_set boolean NOT NULL GENERATED ALWAYS AS (client_secret IS NOT NULL) STORED,
  scopes text[] NOT NULL,
  mapping jsonb NOT NULL,
  email_domains text[] NOT NULL,
  creates_users boolean NOT NULL,
  links_users boolean NOT NULL,
  second_factor text NOT NULL,
  accepts_tokens boolean NOT NULL,
  audience text,
  enabled boolean NOT NULL
);
CREATE INDEX ON svc.oidcproviders (application_id, created_at, id);

-- Who a user is at a provider: the subject, which never changes there, and not the address, which may.
CREATE TABLE svc.identities (
  provider_id uuid NOT NULL REFERENCES svc.oidcproviders ON DELETE CASCADE,
  subject text NOT NULL,
  application_id uuid NOT NULL,
  user_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider_id, subject),
  FOREIGN KEY (application_id, user_id) REFERENCES svc.users (application_id, id) ON DELETE CASCADE
);
CREATE INDEX ON svc.identities (application_id, user_id);

-- One-time codes, by which the page that began a sign-in gets its tokens. Only their hashes are kept.
CREATE TABLE svc.sign_in_codes (
  hash bytea PRIMARY KEY,
  provider_id uuid NOT NULL REFERENCES svc.oidcproviders ON DELETE CASCADE,
  application_id uuid NOT NULL,
  user_id bigint NOT NULL,
  challenge text NOT NULL,
  awaits_factor boolean NOT NULL DEFAULT false,
  claims jsonb NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (application_id, user_id) REFERENCES svc.users (application_id, id) ON DELETE CASCADE
);
CREATE INDEX ON svc.sign_in_codes (expires_at);
CREATE INDEX ON svc.sign_in_codes (application_id, user_id);
CREATE INDEX ON svc.sign_in_codes (provider_id);

-- The provider that a session comes from, the claims that rules may ask for, and whether the provider's own access tokens stand for it.
ALTER TABLE svc.sessions
  ADD COLUMN provider_id uuid,
  ADD COLUMN claims jsonb,
  ADD COLUMN of_token boolean NOT NULL DEFAULT false;
CREATE INDEX ON svc.sessions (provider_id) WHERE provider_id IS NOT NULL;
