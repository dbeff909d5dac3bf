import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { type Operation, operationUsing } from '../http/operation.ts'
import type { Health } from './health.ts'
import { limitsSchema, type ServerLimits } from './limits.ts'
import type { Readiness } from './readiness.ts'
import type { StorageMonitor } from './storage.ts'

/** The version that runs: at `/config`, and under `svc` in every application's configuration. */
export type ServerConfig = { version: { tag: string; hash: string; timestamp: number } }

const configSchema = Type.Object({
  version: Type.Object({
    tag: Type.String({ description: 'The release' }),
    hash: Type.String({ description: 'The commit' }),
    timestamp: Type.Number({ description: 'When it was made, in milliseconds since 1970' }),
  }),
  limits: limitsSchema,
})

const healthSchema = Type.Object({
  status: Type.String(),
  database: Type.String({
    description: '`ok`, or `busy` when it answered the last time and has not answered yet this time',
  }),
})

const readinessSchema = Type.Object({
  status: Type.Enum(['ready', 'unready']),
  checks: Type.Object(
    {
      process: Type.Enum(['ok', 'stopping']),
      database: Type.Enum(['ok', 'busy', 'unavailable'], {
        description: '`busy`: it answered the last time and has not answered yet this time',
      }),
      migrations: Type.Enum(['ok', 'missing', 'unknown'], {
        description: 'Whether the database has all migrations of this version',
      }),
      rights: Type.Optional(
        Type.Enum(['ok', 'missing', 'unknown'], {
          description: 'Whether the server’s role has all rights that it needs; PostgreSQL only',
        }),
      ),
      postgis: Type.Optional(Type.Enum(['ok', 'missing', 'unknown'], { description: 'PostgreSQL only' })),
      tenants: Type.Optional(
        Type.Enum(['ok', 'refused', 'unknown'], {
          description: 'Whether roles of applications can log in; PostgreSQL only',
        }),
      ),
      storage: Type.Enum(['ok', 'full', 'unwritable'], {
        description: 'The disk of DATA_DIR, and that of the database',
      }),
      work: Type.Enum(['ok', 'failing'], { description: 'Polling, sweeps and other work in the background' }),
      bus: Type.Optional(Type.Enum(['ok', 'disconnected'], { description: 'Only where NATS_URL is set' })),
    },
    { description: 'All of them are `ok` or `busy` when the server is ready' },
  ),
  reasons: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 21,
      description: 'While it is not: what each check lacks. `npm start -- doctor` prints what mends it',
    }),
  ),
})

export type ServerInfoServices = {
  readonly about: ServerConfig
  readonly limits: ServerLimits
  readonly health: Health
  readonly storage: StorageMonitor
  readonly readiness: Readiness
  /** Tells load balancers to send nothing more. */
  isStopping(): boolean
}
const operation = operationUsing<ServerInfoServices>()

export const serverInfoOperations: readonly Operation<ServerInfoServices>[] = [
  operation({
    id: 'server.config',
    method: 'GET',
    path: '/api/v1/config',
    summary: 'Get the version of the server and its limits',
    access: 'key',
    success: { status: 200, description: 'The server’s configuration', schema: configSchema },
    handle: async ({ services: { about, limits } }) => ({ body: { ...about, limits } }),
  }),
  operation({
    id: 'server.health',
    method: 'GET',
    path: '/api/v1/healthcheck',
    summary: 'Is the server able to work?',
    description:
      '200 while it and its database are, 503 otherwise; 503 `storage_full` while there is too little room for data. ' +
      'It is answered at once, also while the database is busy: then `database` is `busy`.',
    access: 'public',
    success: { status: 200, description: 'It is', schema: healthSchema },
    async handle({ services: { isStopping, health, storage } }) {
      if (isStopping())
        throw new ApiError('unavailable', 'The server is stopping.', { headers: { 'Retry-After': '2' } })
      const [database] = await Promise.all([health.check(), storage.check()])
      return { headers: { 'cache-control': 'no-store' }, body: { status: 'ok', database } }
    },
  }),
  operation({
    id: 'server.liveness',
    method: 'GET',
    path: '/api/v1/liveness',
    summary: 'Does the process answer?',
    description:
      'Always 200: for whatever restarts a process that hangs. It says nothing of the database, since a restart would not mend that.',
    access: 'public',
    success: { status: 200, description: 'It does', schema: Type.Object({ status: Type.String() }) },
    handle: () => ({ headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } }),
  }),
  operation({
    id: 'server.readiness',
    method: 'GET',
    path: '/api/v1/readiness',
    summary: 'May the server get requests now?',
    description:
      'For load balancers: 200 while it may, 503 while the database cannot be reached or lacks migrations, the server lacks a right, ' +
      'PostGIS or the login of its applications, storage is full, work in the background fails, the bus is disconnected, or the process is stopping. It is answered at once, also while the database is busy.',
    access: 'public',
    success: { status: 200, description: 'It may', schema: readinessSchema },
    ownFailure: { statuses: [503], schema: readinessSchema },
    async handle({ services: { readiness } }) {
      const { isReady, checks, reasons } = await readiness.check()
      const headers = { 'cache-control': 'no-store', ...(!isReady && { 'retry-after': '2' }) }
      return {
        status: isReady ? 200 : 503,
        headers,
        body: { status: isReady ? 'ready' : 'unready', checks, ...(!isReady && { reasons }) },
      }
    },
  }),
]
