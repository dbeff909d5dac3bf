import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { StartError } from '../errors.ts'
import type { Environment } from '../libpq/files.ts'
import { type PlatformServer, readPlatformServer } from '../libpq/platform-server.ts'
import { agentSettings } from './agent-settings.ts'
import { dataSettings } from './data-settings.ts'
import { seconds } from './setting-types.ts'
import { storageSettings } from './storage-settings.ts'

/** Every setting, as an environment variable. This table is the documentation too: `--help` prints it. */
const settings = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: 'The port to listen on; 0 takes any' }),
  HOST: Type.String({
    default: 'localhost',
    description: 'The address to listen on; 0.0.0.0 makes the server reachable from other machines',
  }),
  WORKERS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 128,
      description:
        'Processes that share PORT; unset: as many as there are cores, at most 8; where PostgreSQL is on the same machine three quarters of them, 1 below four; 1 with the embedded database',
    }),
  ),
  BASE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/\\s]+(/[^\\s]*)?$',
      description: 'The address that clients use, if a proxy stands in between',
    }),
  ),
  TRUST_PROXY: Type.String({
    default: '',
    description: 'Proxies whose X-Forwarded headers are believed: addresses or CIDRs with commas, or `true` for all',
  }),
  HSTS: Type.Enum(['', 'includeSubDomains'], {
    default: '',
    description: 'includeSubDomains: what answers by https say of later visits holds for all subdomains too',
  }),
  DATABASE_URL: Type.Optional(
    Type.String({
      description:
        'PostgreSQL 15 or later with PostGIS, in any form that libpq reads; unset: a database embedded in the process',
    }),
  ),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 10,
    description: "Connections to PostgreSQL for the platform's own tables",
  }),
  TENANT_CONNECTIONS: Type.Integer({
    minimum: 2,
    maximum: 5_000,
    default: 50,
    description: 'Connections to PostgreSQL for the queries of all applications; one alone gets three eighths at most',
  }),
  TILE_CONNECTIONS: Type.Integer({
    minimum: 1,
    maximum: 5_000,
    default: 16,
    description: 'Connections to PostgreSQL for tiles, of all threads together',
  }),
  DATA_DIR: Type.String({
    minLength: 1,
    default: './data',
    description: 'Where the embedded database and the secret are kept',
  }),
  DATA_MIN_FREE_MB: Type.Integer({
    minimum: 0,
    default: 64,
    description: 'With less room than so many MiB left for DATA_DIR the health check is 503 storage_full; 0 never',
  }),
  ...storageSettings,
  MASTER_API_KEY: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'This UUID is a master key; unset: one is made at the first start and shown once',
    }),
  ),
  SECRET_KEY: Type.Optional(
    Type.String({
      minLength: 32,
      description: 'Seals secrets in the database; the same for all replicas; unset: kept in DATA_DIR',
    }),
  ),
  BACKUP_PASSPHRASE: Type.Optional(
    Type.String({ minLength: 1, description: 'Encrypts and opens backups; unset: asked for on the terminal' }),
  ),
  EGRESS_ALLOW: Type.String({
    default: '',
    description:
      'Where datasets, databases and agents may reach besides public addresses: CIDRs, hosts, host:port, host:*, ' +
      'private, *; unset: nowhere, but on loopback where HOST is loopback and the database embedded',
  }),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://[^\\s]+$',
      description: 'The mail server, such as smtp://user:password@host:587; unset: mail stays in the outbox',
    }),
  ),
  MAIL_FROM: Type.String({
    default: 'Graticule <graticule@localhost>',
    description: 'The sender of mail: an address, or a name and <an address>',
  }),
  ACCESS_TOKEN_TTL: seconds('How long an access token is good', 900, 86_400),
  REFRESH_TOKEN_TTL: seconds('How long a refresh token is good', 1_209_600, 31_536_000),
  RESET_TOKEN_TTL: seconds('How long the link to a new password is good', 3_600, 604_800),
  VERIFY_TOKEN_TTL: seconds('How long the link to confirm an address is good', 86_400, 2_592_000),
  SESSIONS_PER_USER: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 20,
    description: 'Sessions that a user may have at once; one more ends the oldest',
  }),
  SIGNUPS_PER_HOUR: Type.Integer({
    minimum: 0,
    default: 100,
    description: 'Sign-ups that an address may send to an application within an hour, loopback excepted; 0: no limit',
  }),
  ...dataSettings,
  NATS_URL: Type.Optional(
    Type.String({
      pattern: '^(nats|tls)://',
      description:
        'Joins replicas, so that each can reach the agents that are connected to another; unset: one replica',
    }),
  ),
  ...agentSettings,
  AUDIT_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 365,
    description: 'How long the entries of the audit log are kept',
  }),
  BODY_LIMIT: Type.Integer({ minimum: 1_024, default: 1_048_576, description: 'The largest JSON body in bytes' }),
  MAX_CONNECTIONS: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'Connections that clients may have open, WebSockets included; the next get 503',
  }),
  CONNECTIONS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 5_000,
    description: 'Those that one application may have of them, at most three quarters; its next requests get 429',
  }),
  REQUESTS_PER_CONNECTION: Type.Integer({
    minimum: 0,
    default: 1_000,
    description: 'After so many requests a connection is closed, so that clients spread over workers; 0: never',
  }),
  STOP_NOTICE_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 10,
    default: 0,
    description:
      'After SIGTERM readiness is 503 and requests are still taken for so long, so that load balancers notice; then new ' +
      'connections are refused',
  }),
  REQUESTS_PER_SECOND: Type.Integer({
    minimum: 0,
    default: 0,
    description:
      'How many requests a second each key may send, twice as many at once; a tile counts a fifth, a query of a dataset ' +
      'four; 0: no limit',
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'Serves /metrics on this port too, without a key; unset: only with a master key on PORT',
    }),
  ),
  METRICS_APPLICATIONS: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'Of how many applications /metrics has figures of their own: those with most requests; 0 has none',
  }),
  USAGE_DAYS: Type.Integer({
    minimum: 31,
    maximum: 36_500,
    default: 400,
    description: 'How long the daily usage of applications is remembered',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'Sends traces and metrics to this OpenTelemetry collector, over HTTP; the other OTEL_ variables hold as usual; ' +
        'unset: no code of it is loaded',
    }),
  ),
  OTEL_SDK_DISABLED: Type.String({ default: '', description: '`true`: sends them not, whatever else is set' }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'What is logged; `info` logs every request',
  }),
})

export type Config = Static<typeof settings> & {
  /** What DATABASE_URL says, with what libpq takes from the environment. */
  readonly database?: PlatformServer
}

/** The settings, or an error that names each wrong variable and says what it must be. */
export function loadConfig(env: Environment): Config {
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(settings.properties)) {
    const text = env[name]
    if (text !== undefined && text !== '') values[name] = isNumber(schema) && /^-?\d+$/.test(text) ? Number(text) : text
    else if ('default' in schema) values[name] = schema.default
  }
  const compiled = Compile(settings)
  const { database, fault } = readDatabase(env)
  if (compiled.Check(values) && fault === undefined) return { ...values, ...(database && { database }) }
  const wrong = [...compiled.Errors(values)].map(({ instancePath, message }) => `${instancePath.slice(1)} ${message}`)
  if (fault !== undefined) wrong.push(fault)
  throw new StartError(`The settings are not valid:\n${wrong.map((line) => `  ${line}`).join('\n')}\nSee --help.`)
}

function readDatabase(env: Environment): { readonly database?: PlatformServer; readonly fault?: string } {
  try {
    return env.DATABASE_URL ? { database: readPlatformServer(env.DATABASE_URL, env) } : {}
  } catch (error) {
    if (error instanceof StartError) return { fault: error.message }
    throw error
  }
}

export function describeConfig(): string {
  return Object.entries(settings.properties)
    .map(([name, schema]) => {
      const { description, default: fallback } = schema as { description?: string; default?: unknown }
      const ends = fallback === undefined || fallback === '' ? '' : ` (default: ${fallback})`
      return `  ${name.padEnd(20)} ${typeOf(schema).padEnd(8)} ${description}${ends}`
    })
    .join('\n')
}

const isNumber = (schema: TSchema): boolean => 'type' in schema && schema.type === 'integer'

function typeOf(schema: TSchema): string {
  if ('enum' in schema) return 'word'
  if ('format' in schema && schema.format === 'uuid') return 'uuid'
  if ('pattern' in schema) return 'url'
  return isNumber(schema) ? 'integer' : 'text'
}
