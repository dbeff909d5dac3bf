import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { type Operation, operationUsing } from '../http/operation.ts'
import type { Health } from './health.ts'
import { type Limits, limitsSchema } from './limits.ts'
import type { Storage } from './storage.ts'

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

export type ServerInfoServices = {
  readonly about: ServerConfig
  readonly limits: Limits
  readonly health: Health
  readonly storage: Storage
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
]
