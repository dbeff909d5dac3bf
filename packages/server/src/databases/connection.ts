import type { Secrets } from '../access/secrets.ts'
import { isAuthorsFault, isRefused } from '../db/database-error.ts'
import type { Db, Row } from '../db/db.ts'
import { openPostgres } from '../db/postgres.ts'
import { quoted, raw, sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Connection } from '../query/connection.ts'
import { type DriverName, passwordPlace } from './destination.ts'
import { loadTable } from './load.ts'
import { isBrokenTls, readTls, tlsFault, tlsTo } from './tls.ts'

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
  /** Connections to each database: as many as an application may read answers at once, and some to look around. */
  poolSize: number
  /** The address that a host name means, if it may be reached. */
  resolve(target: { host: string; port: number }): Promise<string>
}

const maxOpen = 200
/** For how long a record is believed: a change is seen by all replicas within a second. */
const trustMs = 900

/** One pool for each database in use; the one not used for longest is closed when there are too many. */
export function createConnections(options: ConnectionsOptions): Connections {
  const open = new Map<string, Promise<{ db: Db; connection: Connection }>>()
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
    const entry = open.get(key) ?? connect(options, record)
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

function connect(options: ConnectionsOptions, record: DatabaseRecord): Promise<{ db: Db; connection: Connection }> {
  return record.type === 'internal' ? connectInternal(options, record) : connectPostgres(options, record)
}

/** On PostgreSQL the application logs in as itself; embedded there is one session, so it takes the role on. */
async function connectInternal(options: ConnectionsOptions, { applicationId }: DatabaseRecord) {
  const { db, secrets, platformUrl, poolSize } = options
  const password = secrets.derive(`tenant ${applicationId}`)
  const [row] = await db.query<{ role: string }>(
    sql`SELECT svc.open_tenant(${applicationId}::uuid, ${password}) AS role`,
  )
  const role = row?.role ?? ''
  // The application itself only reads: what is put into its schema is put there by the platform.
  const load: Connection['load'] = (table, lines) => loadTable(db, role, table, lines)
  if (platformUrl === undefined) return { db, connection: { ...selectOn(db, role, role), load } }
  const url = new URL(platformUrl)
  url.username = role
  url.password = password
  const server = { url: url.href }
  const own = openPostgres({ ...server, poolSize, onError: () => {} })
  return { db: own, connection: { ...selectOn(own, role), load, server, settings: settingsOf(role) } }
}

async function connectPostgres({ secrets, resolve, poolSize }: ConnectionsOptions, record: DatabaseRecord) {
  const { host, port, user, applicationId } = record
  const password = record.password ? secrets.open(record.password, passwordPlace(applicationId, record)) : ''
  const address = await resolve({ host, port })
  const ssl = tlsTo(host, address, readTls(record.metadata, 'metadata'))
  const server = { host: address, port, user, password, database: record.db, ssl }
  const db = openPostgres({ ...server, poolSize, onError: () => {} })
  const { schema, select } = selectOn(db, 'public')
  // Its user may write, so everything runs in a read-only transaction.
  const connection: Connection = {
    schema,
    server,
    settings: settingsOf(schema),
    select: (statement, options) => select(statement, { ...options, isOurs: false }).catch(notOurs),
    load: (table, lines) => loadTable(db, schema, table, lines).catch(explain).catch(notOurs),
  }
  return { db, connection }
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

/** That somebody else's server cannot be reached is no fault of this one. */
function notOurs(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'unavailable') throw error
  throw new ApiError('upstream_failed', 'The database cannot be reached.', { cause: error.cause })
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
    throw new ApiError('invalid_request', `The database says: ${error.message}`, { cause: error })
  }
  throw error
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
