import Type, { type Static } from 'typebox'
import type { Operation } from '../../api/http/operation.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { getEntity } from '../../api/resource/store.ts'
import { ApiError } from '../../kernel/errors.ts'
import { database } from './database.ts'
import type { DatabaseDriver } from './driver.ts'
import { driverSchema } from './driver-details.ts'
import { type DriverName, driverNames, drivers, isInstalled } from './drivers.ts'
import { isRefusal } from './postgres/server-errors.ts'
import { tlsFault } from './postgres/tls.ts'
import { type DatabaseServices, operation } from './services.ts'
import { tableOperations } from './table-operations.ts'

const testSchema = Type.Object({
  ok: Type.Boolean(),
  latencyMs: Type.Number(),
  serverVersion: Type.Optional(Type.String()),
  postgisVersion: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

const { path } = database

export const databaseOperations: readonly Operation<DatabaseServices>[] = [
  operation({
    id: 'databases.drivers',
    method: 'GET',
    path: `${path}/drivers`,
    summary: 'List the kinds of database',
    access: { class: 'databases', level: 'execute', id: () => undefined },
    query: Type.Object({
      details: Type.Optional(
        Type.Boolean({ description: 'Objects in place of names: what each can do, and the fields of its form' }),
      ),
    }),
    success: {
      status: 200,
      description: 'Their names, or with `details` what each can do',
      schema: Type.Union([Type.Array(Type.String()), Type.Array(driverSchema)]),
    },
    async handle(_, { query: { details } }) {
      const names = driverNames.filter(isInstalled).toSorted()
      return { body: details ? names.map(detailsOf) : names }
    },
  }),
  operation({
    id: 'databases.test',
    method: 'POST',
    path: `${path}/{id}/test`,
    summary: 'Try to connect',
    access: { class: 'databases', level: 'execute' },
    success: { status: 200, description: 'Whether it works, and if not, why', schema: testSchema },
    async handle({ scope, signal, services }, { params: { id } }) {
      const { connections } = services
      const { entity } = await getEntity({ resource: database, services }, scope, id)
      const record = await connections.lookUp(String(entity.applicationId), id)
      if (!record) throw new ApiError('not_found', 'There is no Database with this id.')
      const start = performance.now()
      const outcome = await connections
        .open(record)
        .then((connection) => connection.versions(signal))
        .catch((error) => failure(error, record.type))
      signal.throwIfAborted()
      return { body: { ok: !('error' in outcome), latencyMs: Math.round(performance.now() - start), ...outcome } }
    },
  }),
  ...tableOperations,
  ...standardOperations(database),
]

/** The functions of the driver are not for callers. */
function detailsOf(name: DriverName): Static<typeof driverSchema> {
  const { title, isPlatform, isWritable, canFollow, summary, contents, engines, ways, fields }: DatabaseDriver =
    drivers[name]
  return { name, title, isPlatform, isWritable, canFollow, summary, contents, engines, ...(ways && { ways }), fields }
}

/** One text for every way a connection can fail: the answer must not be a port scanner. */
function failure(error: unknown, type: string): { error: { code: string; message: string } } {
  // Known without a connection.
  if (error instanceof ApiError && !isInstalled(type))
    return { error: { code: 'not_installed', message: error.message } }
  if (!(error instanceof ApiError) || error.code === 'unavailable') return { error: unreachable }
  if (error.code !== 'upstream_failed') return { error: { code: error.code, message: error.message } }
  if (tlsFault(error.cause)) return { error: { code: 'tls', message: error.message } }
  return { error: isRefusal(error.cause) ? { code: 'refused', message: error.message } : unreachable }
}

const unreachable = { code: 'unreachable', message: 'The server could not be reached.' }
