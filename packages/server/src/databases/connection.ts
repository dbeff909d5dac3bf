import type { Secrets } from '../access/secrets.ts'
import { PoolFull } from '../db/connection-pool.ts'
import { isAuthorsFault, isForeignServerFault, isRefused } from '../db/database-error.ts'
import type { Db, Row } from '../db/db.ts'
import { openPostgres } from '../db/postgres.ts'
import { createSharedConnections, type SharedConnections } from '../db/postgres-pool.ts'
import { publicDatabaseMessage } from '../db/public-message.ts'
import { quoted, raw, sql } from '../db/sql.ts'
import type { Cell } from '../db/values.ts'
import { ApiError } from '../errors.ts'
import type { Connection } from '../query/connection.ts'
import { type DriverName, passwordPlace } from './destination.ts'
import { loadTable } from './load.ts'
import { isBrokenTls, tlsFault, tlsOf } from './tls.ts'

export type DatabaseRecord = {
  id: string
  applicationId: string
  revision: string
  type: DriverName
  host: string
  port: number
  user: string
  password: string | null
  db: string
  metadata: Record<string, unknown>
}

export type Connections = {
  /** The database with this id in this application, or its default one, as it was within the last second. */
  find(applicationId: string, id: string | undefined): Promise<DatabaseRecord | undefined>
  /** As it is now. */
  lookUp(applicationId: string, id: string | undefined): Promise<DatabaseRecord | undefined>
  open(record: DatabaseRecord): Promise<Connection>
  /** Where tables can be made, with our rights in our own database and with those of its user in any other. */
  writable(record: DatabaseRecord): Promise<{ db: Db; schema: string }>
  close(): Promise<void>
}

export type ConnectionsOptions = {
  db: Db
  secrets: Secrets
  /** The platform's own address; none when it is embedded. */
  platformUrl: string | undefined
  /** Connections of each application: as many as it may read answers at once, and some to look around. */
  poolSize: number
  /** Of all applications together, to the platform's own server. */
  maxConnections: number
  /** The address that a host name means, if it may be reached. */
  resolve(target: { host: string; port: number }): Promise<string>
}

const maxOpen = 200
/** To all servers of applications' own. They take no place on the platform's server, only memory of this one. */
const maxForeign = 200
/** For how long a record is believed: a change is seen by all replicas within a second. */
const trustMs = 900

/** One pool for each database in use; the one not used for longest is closed when there are too many. */
export function createConnections(options: ConnectionsOptions): Connections {
  const open = new Map<string, Promise<{ db: Db; connection: Connection }>>()
  const shared: Shared = {
    own: createSharedConnections(options.maxConnections, { leavesRoom: true }),
    foreign: createSharedConnections(maxForeign, { leavesRoom: true }),
  }
  const known = new Map<string, { record: DatabaseRecord; askedAt: number }>()

  async function find(applicationId: string, id: string | undefined): Promise<DatabaseRecord | undefined> {
    const key = `${applicationId} ${id}`
    const entry = known.get(key)
    const askedAt = performance.now()
    if (entry && askedAt - entry.askedAt < trustMs) return entry.record
    const record = await findDatabase(options.db, applicationId, id)
    if (known.size > maxOpen) known.clear()
    if (record) known.set(key, { record, askedAt })
    else known.delete(key)
    return record
  }

  async function evict(): Promise<void> {
    const [oldest] = open
    if (!oldest || open.size <= maxOpen) return
    open.delete(oldest[0])
    await close(oldest[1])
  }
  const close = async (entry: Promise<{ db: Db }>) => {
    const opened = await entry.catch(() => undefined)
    if (opened && opened.db !== options.db) await opened.db.close()
  }

  async function opened(record: DatabaseRecord): Promise<{ db: Db; connection: Connection }> {
    const key = record.type === 'internal' ? record.applicationId : `${record.id} ${record.revision}`
    const entry = open.get(key) ?? connect(options, shared, record)
    open.delete(key)
    open.set(key, entry)
    entry.catch(() => open.delete(key))
    await evict()
    return entry
  }

  return {
    find,
    lookUp: (applicationId, id) => findDatabase(options.db, applicationId, id),
    open: async (record) => (await opened(record)).connection,
    async writable(record) {
      const { db, connection } = await opened(record)
      return { db: record.type === 'internal' ? options.db : db, schema: connection.schema }
    },
    close: async () => {
      await Promise.all([...open.values()].map(close))
      open.clear()
      shared.own.close()
      shared.foreign.close()
    },
  }
}

async function findDatabase(
  db: Db,
  applicationId: string,
  id: string | undefined,
): Promise<DatabaseRecord | undefined> {
  const wanted = id === undefined ? raw('"default"') : sql`id = ${id}::uuid`
  const [row] = await db.query<Row & DatabaseRecord>(sql`
    SELECT id, application_id AS "applicationId", revision, type, host, port, "user", password, db, metadata
    FROM svc.databases WHERE application_id = ${applicationId}::uuid AND ${wanted}`)
  return row && { ...row, revision: String(row.revision) }
}

type Shared = { readonly own: SharedConnections; readonly foreign: SharedConnections }

function connect(
  options: ConnectionsOptions,
  shared: Shared,
  record: DatabaseRecord,
): Promise<{ db: Db; connection: Connection }> {
  return record.type === 'internal'
    ? connectInternal(options, shared.own, record)
    : connectPostgres(options, shared.foreign, record)
}

/** On PostgreSQL the application logs in as itself; embedded there is one session, so it takes the role on. */
async function connectInternal(
  options: ConnectionsOptions,
  shared: SharedConnections,
  { applicationId }: DatabaseRecord,
) {
  const { db, secrets, platformUrl, poolSize } = options
  const password = secrets.derive(`tenant ${applicationId}`)
  const [row] = await db.query<{ role: string }>(
    sql`SELECT svc.open_tenant(${applicationId}::uuid, ${password}) AS role`,
  )
  const role = row?.role ?? ''
  // The application itself only reads: what is put into its schema is put there by the platform.
  const load: Connection['load'] = (table, lines) => loadTable(db, role, table, lines)
  const catalog = selectOn(db, role).select
  if (platformUrl === undefined) return { db, connection: { ...selectOn(db, role, role), load, catalog } }
  const url = new URL(platformUrl)
  url.username = role
  url.password = password
  const server = { url: url.href }
  const own = openPostgres({ ...server, poolSize, shared, whenFull, onError: () => {} })
  return { db: own, connection: { ...selectOn(own, role), load, catalog, server, settings: settingsOf(role) } }
}

async function connectPostgres(
  { secrets, resolve, poolSize }: ConnectionsOptions,
  shared: SharedConnections,
  record: DatabaseRecord,
) {
  const { host, port, user, applicationId } = record
  const password = record.password ? secrets.open(record.password, passwordPlace(applicationId, record)) : ''
  const address = await resolve({ host, port })
  const ssl = tlsOf(record, address)
  const definition = `${record.id} ${record.revision}`
  const server = { host: address, port, user, password, database: record.db, ssl, owner: applicationId, definition }
  const db = openPostgres({ ...server, poolSize, shared, whenFull, onError: () => {} })
  const { schema, select } = selectOn(db, 'public')
  // Its user may write, so everything runs in a read-only transaction.
  const connection: Connection = {
    isForeign: true,
    schema,
    server,
    settings: settingsOf(schema),
    async select(statement, { atMost, ...options }) {
      const { batches, ...rest } = await select(statement, { ...options, isOurs: false }).catch(notOurs)
      const mostRows = atMost ?? Number.POSITIVE_INFINITY
      const mostBytes = options.isStream ? Number.POSITIVE_INFINITY : maxCollectedBytes
      return { ...rest, batches: bounded(batches, mostRows, mostBytes) }
    },
    load: (table, lines) => loadTable(db, schema, table, lines).catch(explain).catch(notOurs),
  }
  return { db, connection }
}

/** Of an answer that is not streamed to a client: a foreign server may send rows without end, whatever was asked. */
const maxCollectedBytes = 16 << 20

async function* bounded(
  batches: AsyncIterable<Cell[][]>,
  mostRows: number,
  mostBytes: number,
): AsyncGenerator<Cell[][]> {
  let rows = 0
  let bytes = 0
  try {
    for await (const batch of batches) {
      rows += batch.length
      if (mostBytes < Number.POSITIVE_INFINITY) bytes += lengthOf(batch)
      if (rows > mostRows || bytes > mostBytes) {
        throw new ApiError('upstream_failed', 'The database server sent more rows than were asked for.')
      }
      yield batch
    }
  } catch (error) {
    notOurs(error)
  }
}

const lengthOf = (batch: Cell[][]): number =>
  batch.reduce((sum, cells) => sum + cells.reduce((all, cell) => all + (cell?.length ?? 0), 0), 0)

/** All connections that an application may have are in use. */
function whenFull(full: PoolFull): ApiError {
  const { held } = full
  const detail =
    held === 0
      ? 'The server has no database connection left. Try again in a moment.'
      : `This application already runs ${held} queries, its limit. Try again in a moment.`
  return new ApiError(held === 0 ? 'unavailable' : 'busy', detail, { cause: full, headers: { 'Retry-After': '1' } })
}

/** For connections that are used outside of a guarded query. */
const settingsOf = (schema: string): string =>
  `SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET lock_timeout = '2s'; SET search_path = ${quoted(schema)}, public`

function selectOn(db: Db, schema: string, role?: string): Pick<Connection, 'schema' | 'select'> {
  return {
    schema,
    async select(statement, options) {
      const guarded = { ...options, schema, ...(role !== undefined && { role }) }
      const { batches, ...rest } = await db.guarded(statement, guarded).catch(explain)
      return { ...rest, batches: explained(batches) }
    },
  }
}

/** Whatever somebody else's server does is no fault of this one. */
function notOurs(error: unknown): never {
  if (error instanceof ApiError && (error.code !== 'unavailable' || error.cause instanceof PoolFull)) throw error
  if (isForeignServerFault(error)) throw new ApiError('upstream_failed', error.message, { cause: error })
  if (!(error instanceof Error)) throw error
  const detail = error instanceof ApiError ? 'The database cannot be reached.' : 'The database server failed.'
  throw new ApiError('upstream_failed', detail, { cause: error.cause ?? error })
}

async function* explained<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* batches
  } catch (error) {
    explain(error)
  }
}

/** The server turned us away. Its own words may name addresses, so they are for the log only. */
export const isRefusal = (error: unknown): boolean => isRefused(codeOf(error))

/** What is wrong with a query is for its author to know, in the server's own words. (PostGIS says XX000 of everything.) */
function explain(error: unknown): never {
  if (!(error instanceof Error) || error instanceof ApiError) throw error
  const fault = tlsFault(error)
  if (fault || isBrokenTls(error)) {
    throw new ApiError('upstream_failed', fault ?? 'The server could not be reached.', { cause: error })
  }
  if (isRefusal(error)) {
    throw new ApiError('upstream_failed', 'The server refused the user, password or database.', { cause: error })
  }
  if (isAuthorsFault(codeOf(error))) {
    throw new ApiError('invalid_request', `The database says: ${publicDatabaseMessage(error)}`, { cause: error })
  }
  throw error
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
