import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { StartError } from './errors.ts'

const size = (bytes: number, description: string) => Type.Integer({ minimum: 1_024, default: bytes, description })
const milliseconds = (fallback: number, description: string) =>
  Type.Integer({ minimum: 10, maximum: 86_400_000, default: fallback, description })
const seconds = (description: string, fallback: number, maximum: number) =>
  Type.Integer({ minimum: 1, maximum, default: fallback, description: `${description}, in seconds` })

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
        'Processes that share PORT; unset: as many as there are cores, at most 8; 1 with the embedded database',
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
      pattern: '^postgres(ql)?://',
      description: 'PostgreSQL 15 or later with PostGIS; unset: a database embedded in the process',
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
  STREAMS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 16,
    description: 'How many queries of datasets an application may run at once',
  }),
  STUCK_READER_MS: Type.Integer({
    minimum: 100,
    maximum: 86_400_000,
    default: 60_000,
    description: 'A client that takes nothing of a query answer for so many milliseconds is cut off',
  }),
  EXPORT_MAX_BYTES: Type.Integer({
    minimum: 1_024,
    default: 1_073_741_824,
    description: 'The largest file of an export that is made before it is sent; at most 8 are made at once',
  }),
  EXPORT_CACHE_BYTES: Type.Integer({
    minimum: 0,
    default: 4_294_967_296,
    description: 'Bytes of such files that are kept in DATA_DIR for an hour; an application has a quarter at most',
  }),
  TILE_CACHE_MB: Type.Integer({
    minimum: 0,
    default: 128,
    description: 'Memory for tiles that were made; 0 keeps none',
  }),
  TILE_MAX_FEATURES: Type.Integer({ minimum: 1, default: 50_000, description: 'The most features in a tile' }),
  TILE_MAX_BYTES: Type.Integer({ minimum: 1_000, default: 500_000, description: 'The largest tile, uncompressed' }),
  OVERVIEW_MIN_ROWS: Type.Integer({
    minimum: 1,
    default: 50_000,
    description: 'Tables with so many rows get overviews for the low zooms of maps',
  }),
  OVERVIEW_REBUILD_SECONDS: seconds(
    'How long an overview of a table on another server is kept though the table changes',
    600,
    604_800,
  ),
  UPLOAD_MAX_BYTES: Type.Integer({ minimum: 1, default: 1_073_741_824, description: 'The largest file that is taken' }),
  UPLOADS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 2,
    description: 'How many uploads of an application are worked on at once; the rest wait',
  }),
  UPLOADS_WAITING_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 100,
    description: 'How many uploads of an application may be unfinished; further ones are refused',
  }),
  UPLOADS_ARRIVING: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'How many files may arrive at once at a replica, over all applications; further ones are refused',
  }),
  UPLOAD_MIN_RATE: Type.Integer({
    minimum: 0,
    default: 1_024,
    description: 'A file that arrives with fewer bytes a second, over 15 seconds, is refused; 0: any rate will do',
  }),
  UPLOAD_DEADLINE_SECONDS: seconds('A file that has not arrived after so long is refused', 1_800, 86_400),
  STORAGE_PER_APPLICATION: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Bytes of tables and files that an application may keep; unset: no limit',
    }),
  ),
  UPLOAD_STALLED_SECONDS: seconds('A file whose reading makes no progress for so long fails', 120, 86_400),
  UPLOAD_WORK_SECONDS: seconds('The longest that an upload is worked on, from reading to publishing', 3_600, 86_400),
  UPLOAD_GDAL: Type.Enum(['wasm', 'native'], {
    default: 'wasm',
    description:
      'What reads GML, DXF, MapInfo, FileGDB and ODS: the GDAL that comes along, or `ogr2ogr` of this machine',
  }),
  LAMBDA_ENDPOINT: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Where functions are; unset: AWS itself' }),
  ),
  LAMBDA_FUNCTIONS: Type.String({
    default: '',
    description:
      'Which functions datasets may call: names, prefix*, applicationId:name or applicationId:prefix*, with commas; ' +
      '* for all; unset: none',
  }),
  AWS_REGION: Type.String({ default: 'us-east-1', description: 'The region of functions' }),
  AWS_ACCESS_KEY_ID: Type.Optional(Type.String({ description: 'Calls functions; unset: lambda datasets are refused' })),
  AWS_SECRET_ACCESS_KEY: Type.Optional(Type.String({ description: 'Goes with it' })),
  AWS_SESSION_TOKEN: Type.Optional(Type.String({ description: 'Goes with it, for credentials that end' })),
  NATS_URL: Type.Optional(
    Type.String({
      pattern: '^(nats|tls)://',
      description:
        'Joins replicas, so that each can reach the agents that are connected to another; unset: one replica',
    }),
  ),
  AGENT_BRIDGES: Type.Enum(['off', 'on'], {
    default: 'off',
    description: 'Whether the server itself answers for agents of the types openai, anthropic, ollama and http',
  }),
  AGENT_BRIDGE_CALLS_PER_APPLICATION: Type.Integer({
    minimum: 1,
    default: 64,
    description: 'Calls that a replica so answers at once for all agents of an application; the next get 429',
  }),
  AGENT_INPUT_BYTES: size(262_144, 'The largest input of an agent'),
  AGENT_OUTPUT_BYTES: size(4_194_304, 'The largest answer of an agent'),
  AGENT_WINDOW_BYTES: size(262_144, 'How much of an answer may be on its way to a client that reads slowly'),
  AGENT_FRAME_BYTES: size(1_048_576, 'The largest message of a worker'),
  AGENT_WORKERS: Type.Integer({ minimum: 1, default: 32, description: 'Workers that may serve one agent' }),
  AGENT_WORKERS_PER_APPLICATION: Type.Integer({ minimum: 1, default: 256, description: 'And all agents together' }),
  AGENT_HELLO_MS: milliseconds(5_000, 'A worker must introduce itself within this time'),
  AGENT_ACCEPT_MS: milliseconds(5_000, 'A worker must accept an invocation within this time'),
  AGENT_CANCEL_GRACE_MS: milliseconds(5_000, 'A worker that ignores a cancellation gets its slot back after this time'),
  AGENT_PING_MS: milliseconds(15_000, 'How often idle workers are asked for a sign of life'),
  AGENT_BUSY_PING_MS: milliseconds(5_000, 'How often workers with work are'),
  AGENT_KEEPALIVE_MS: milliseconds(15_000, 'How often a silent stream carries a comment'),
  AGENT_STALLED_MS: milliseconds(30_000, 'A client that takes nothing of a stream for so long is cut off'),
  AGENT_DRAIN_MS: milliseconds(24_000, 'How long answers that have begun may take once the server is told to stop'),
  AGENT_HISTORY_DAYS: Type.Integer({ minimum: 1, default: 30, description: 'How long invocations are remembered' }),
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

export type Config = Static<typeof settings>

/** The settings, or an error that names each wrong variable and says what it must be. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(settings.properties)) {
    const text = env[name]
    if (text !== undefined && text !== '') values[name] = isNumber(schema) && /^-?\d+$/.test(text) ? Number(text) : text
    else if ('default' in schema) values[name] = schema.default
  }
  const compiled = Compile(settings)
  if (compiled.Check(values)) return values
  const wrong = [...compiled.Errors(values)].map(({ instancePath, message }) => `${instancePath.slice(1)} ${message}`)
  throw new StartError(`The settings are not valid:\n${wrong.map((line) => `  ${line}`).join('\n')}\nSee --help.`)
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
