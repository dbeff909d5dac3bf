import Type from 'typebox'
import type { Db } from '../db/db.ts'
import { raw } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { type Operation, operation } from '../http/operation.ts'
import type { Connection } from '../query/connection.ts'
import type { Resource } from '../resource/resource.ts'
import { getEntity } from '../resource/store.ts'
import { type Connections, isRefusal } from './connection.ts'
import { driverNames } from './destination.ts'
import { tlsFault } from './tls.ts'

const testTimeoutMs = 5_000

const testSchema = Type.Object({
  ok: Type.Boolean(),
  latencyMs: Type.Number(),
  serverVersion: Type.Optional(Type.String()),
  postgisVersion: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

export function databaseOperations(db: Db, resource: Resource, connections: Connections): Operation[] {
  const { path } = resource
  return [
    operation({
      id: 'databases.drivers',
      method: 'GET',
      path: `${path}/drivers`,
      summary: 'List the kinds of database',
      access: { class: 'databases', level: 'execute', id: () => undefined },
      success: { status: 200, description: 'Their names', schema: Type.Array(Type.String()) },
      handle: async () => ({ body: driverNames.toSorted() }),
    }),
    operation({
      id: 'databases.test',
      method: 'POST',
      path: `${path}/{id}/test`,
      summary: 'Try to connect',
      access: { class: 'databases', level: 'execute' },
      success: { status: 200, description: 'Whether it works, and if not, why', schema: testSchema },
      async handle({ scope, signal }, { params: { id = '' } }) {
        const { entity } = await getEntity({ db, resource }, scope, id)
        const record = await connections.lookUp(String(entity.applicationId), id)
        if (!record) throw new ApiError('not_found', 'There is no Database with this id.')
        const start = performance.now()
        const outcome = await connections
          .open(record)
          .then((connection) => tryOut(connection, signal))
          .catch(failure)
        signal.throwIfAborted()
        return { body: { ok: !('error' in outcome), latencyMs: Math.round(performance.now() - start), ...outcome } }
      },
    }),
  ]
}

async function tryOut(
  connection: Connection,
  signal: AbortSignal,
): Promise<{ serverVersion: string; postgisVersion?: string }> {
  const server = await single(connection, signal, "SELECT current_setting('server_version')")
  const postgis = await single(
    { select: connection.catalog ?? connection.select },
    signal,
    "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'postgis'), '')",
  ).catch(notTold)
  return { serverVersion: server, ...(postgis && { postgisVersion: postgis }) }
}

/** A server may keep its catalogs to itself. */
function notTold(error: unknown): string {
  if (error instanceof ApiError && error.code === 'invalid_request') return ''
  throw error
}

async function single(connection: Pick<Connection, 'select'>, signal: AbortSignal, text: string): Promise<string> {
  const { batches } = await connection.select(raw(text), { timeoutMs: testTimeoutMs, signal, atMost: 1 })
  let value = ''
  for await (const [row] of batches) value = row?.[0] ?? ''
  return value
}

/** One text for every way a connection can fail: the answer must not be a port scanner. */
function failure(error: unknown): { error: { code: string; message: string } } {
  if (!(error instanceof ApiError) || error.code === 'unavailable') return { error: unreachable }
  if (error.code !== 'upstream_failed') return { error: { code: error.code, message: error.message } }
  if (tlsFault(error.cause)) return { error: { code: 'tls', message: error.message } }
  return { error: isRefusal(error.cause) ? { code: 'refused', message: error.message } : unreachable }
}

const unreachable = { code: 'unreachable', message: 'The server could not be reached.' }
