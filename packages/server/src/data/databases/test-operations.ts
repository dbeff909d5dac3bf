// Tries connections: of records, and of what is to become one.
import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { authorize, demandAnyId, type Scope } from '../../api/access/acl.ts'
import { uuidText } from '../../api/http/input/bounded-schemas.ts'
import type { Operation } from '../../api/http/operation.ts'
import { chooseApplication } from '../../api/resource/crud.ts'
import { type Entity, isInputField } from '../../api/resource/resource.ts'
import { createSchema } from '../../api/resource/schemas.ts'
import { getEntity } from '../../api/resource/store.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Connection } from '../../query/execution/connection.ts'
import { database } from './database.ts'
import type { DatabaseRecord } from './driver.ts'
import { isInstalled } from './drivers.ts'
import { isRefusal } from './postgres/server-errors.ts'
import { tlsFault } from './postgres/tls.ts'
import { type DatabaseServices, operation } from './services.ts'

const testSchema = Type.Object({
  ok: Type.Boolean(),
  latencyMs: Type.Number(),
  serverVersion: Type.Optional(Type.String()),
  postgisVersion: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

const success = { status: 200, description: 'Whether it works, and if not, why', schema: testSchema } as const

const testStored = operation({
  id: 'databases.test',
  method: 'POST',
  path: `${database.path}/{id}/test`,
  summary: 'Try to connect',
  access: { class: 'databases', level: 'execute' },
  success,
  async handle({ scope, signal, services }, { params: { id } }) {
    const { connections } = services
    const { entity } = await getEntity({ resource: database, services }, scope, id)
    const record = await connections.lookUp(String(entity.applicationId), id)
    if (!record) throw new ApiError('not_found', 'There is no Database with this id.')
    return { body: await tried(record, signal, (versions) => connections.open(record).then(versions)) }
  },
})

const draft = createSchema(database)

const testDraft = operation({
  id: 'databases.testDraft',
  method: 'POST',
  path: `${database.path}/test`,
  summary: 'Try to connect before anything is stored',
  description:
    'The body is that of a new database. With `id`, that of one that is to be changed, the stored password is taken where the body has ' +
    'none. The key needs write and execute access to all databases.',
  access: { class: 'databases', level: 'write', id: () => undefined },
  audit: { none: 'It stores nothing.' },
  body: Type.Object(
    { ...draft.properties, id: Type.Optional(uuidText({ description: 'The record that is to be changed' })) },
    { additionalProperties: false, examples: [database.example] },
  ),
  beforeBody: ({ caller, scope }) => demandTestRights(caller, scope),
  success,
  async handle({ caller, scope, signal, services }, { body }) {
    const { connections } = services
    const applicationId = chooseApplication(caller, (body as Entity).applicationId)
    const record = await draftRecord(services, scope, applicationId, { input: body as Entity, signal })
    return { body: await tried(record, signal, (versions) => connections.tryOut(record, versions)) }
  },
})

export const testOperations: readonly Operation<DatabaseServices>[] = [testDraft, testStored]

/** Those that making a record and testing it need. */
function demandTestRights(caller: Scope['caller'], scope: Scope): void {
  demandAnyId(scope)
  demandAnyId(authorize(caller, { class: 'databases', level: 'execute' }, undefined))
}

type Draft = { readonly input: Entity; readonly signal: AbortSignal }

/** As it would be stored, with the stored password where the login stays: for another one storing it is refused, too. */
async function draftRecord(
  services: DatabaseServices,
  scope: Scope,
  applicationId: string,
  { input, signal }: Draft,
): Promise<DatabaseRecord> {
  const { id, ...given } = input
  const stored = typeof id === 'string' ? await storedRecord(services, scope, applicationId, id) : undefined
  const previous = stored?.entity
  const values: Entity = {}
  for (const [name, field] of Object.entries(database.fields)) {
    if (!isInputField(field)) continue
    if (given[name] !== undefined) values[name] = given[name]
    else if (!previous) values[name] = field.default
  }
  const whole = { values, applicationId, input: given, leaving: () => signal, ...(previous && { previous }) }
  const made = { ...previous, ...(await database.prepare?.(whole, scope, services)) } as unknown as DatabaseRecord
  const { type, host, port, user, db, metadata, password } = made
  const login = { type, host, port, user, db, password: password ?? stored?.record.password ?? null }
  return { ...login, id: 'draft', revision: randomUUID(), applicationId, metadata: metadata ?? {} }
}

async function storedRecord(services: DatabaseServices, scope: Scope, applicationId: string, id: string) {
  const { entity } = await getEntity({ resource: database, services }, scope, id)
  const record = await services.connections.lookUp(applicationId, id)
  if (!record) throw new ApiError('not_found', 'There is no Database with this id.')
  return { entity, record }
}

type Versions = Awaited<ReturnType<Connection['versions']>>

async function tried(
  { type }: Pick<DatabaseRecord, 'type'>,
  signal: AbortSignal,
  connect: (versions: (connection: Connection) => Promise<Versions>) => Promise<Versions>,
) {
  const start = performance.now()
  const outcome = await connect((connection) => connection.versions(signal)).catch((error) => failure(error, type))
  signal.throwIfAborted()
  return { ok: !('error' in outcome), latencyMs: Math.round(performance.now() - start), ...outcome }
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
