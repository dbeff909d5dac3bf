-- One-time sign-in to the console: whoever has the token of a row gets the key, and the row is gone.
CREATE TABLE svc.sign_in_links (
  -- Of the token, which is 256 random bits.
  hash bytea PRIMARY KEY,
  -- Of the key. Not a reference: a link whose key was deleted says so until it expires.
  key_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The link that the server shows when it starts is good until it starts again.
  ends_at_restart boolean NOT NULL
);
