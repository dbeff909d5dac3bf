-- Agents, what was asked of them, and which replicas are alive.

CREATE TABLE svc.replicas (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);

CREATE TABLE svc.agents (
  id uuid PRIMARY KEY,
  application_id uuid NOT NULL CONSTRAINT known_application REFERENCES svc.applications ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  revision bigint NOT NULL DEFAULT 1,
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT metadata_size CHECK (octet_length(metadata::text) <= 65536),
  name text NOT NULL,
  description text NOT NULL,
  type text NOT NULL,
  config jsonb NOT NULL,
  secrets text,
  enabled boolean NOT NULL,
  max_concurrency integer,
  timeout_ms integer NOT NULL,
  idle_timeout_ms integer NOT NULL,
  max_duration_ms integer NOT NULL,
  model text,
  dataset_ids text[],
  store_content boolean NOT NULL,
  memory text NOT NULL,
  -- Known only to the replicas that hold the connections: these are what an agent is without any.
  status text NOT NULL DEFAULT 'offline',
  workers integer NOT NULL DEFAULT 0,
  capacity integer NOT NULL DEFAULT 0,
  in_flight integer NOT NULL DEFAULT 0
);
CREATE INDEX ON svc.agents (application_id, created_at, id);

-- Without a reference to the agent: rows are written in batches, and one whose agent is gone must not spoil a batch.
CREATE TABLE svc.agent_invocations (
  id uuid PRIMARY KEY,
  agent_id uuid NOT NULL,
  application_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  conversation_id text,
  api_key_hash bytea,
  user_id bigint,
  worker_id text,
  replica_id uuid NOT NULL,
  mode text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'cancelled')),
  status_code integer,
  error_code text,
  ttfb_ms integer,
  duration_ms integer,
  input_bytes integer NOT NULL,
  output_bytes integer,
  usage jsonb,
  model text,
  finish_reason text,
  trace_id text,
  metadata jsonb,
  -- Only for agents that store it.
  input text,
  output text
);
CREATE INDEX ON svc.agent_invocations (agent_id, created_at DESC, id);
CREATE INDEX ON svc.agent_invocations (agent_id, conversation_id, created_at DESC) WHERE conversation_id IS NOT NULL;
CREATE INDEX ON svc.agent_invocations (created_at);
CREATE INDEX agent_invocations_running ON svc.agent_invocations (agent_id, replica_id) WHERE status = 'running';

-- An answer that a client may ask for again with the same Idempotency-Key; sealed, because it is content.
CREATE TABLE svc.agent_answers (
  agent_id uuid NOT NULL,
  caller bytea NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  replica_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  answer text,
  PRIMARY KEY (agent_id, caller, key)
);
CREATE INDEX ON svc.agent_answers (created_at);

CREATE FUNCTION svc.forget_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM svc.agent_invocations WHERE agent_id = OLD.id;
  DELETE FROM svc.agent_answers WHERE agent_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_agent AFTER DELETE ON svc.agents FOR EACH ROW EXECUTE FUNCTION svc.forget_agent();
