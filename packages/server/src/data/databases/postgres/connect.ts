// Connections to PostgreSQL: the application's own schema in the platform's database, and any server that it can reach.
import type { Db } from '../../../kernel/db/db.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { openPostgres } from '../../../kernel/db/postgres/postgres.ts'
import { guardedSession } from '../../../kernel/db/postgres/postgres-guarded.ts'
import type { SharedConnections } from '../../../kernel/db/postgres/postgres-pool.ts'
import { ident, quoted, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { ResultCell } from '../../../kernel/db/values.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { asRole } from '../../../kernel/libpq/platform-server.ts'
import type { Connection, PostgresConnection } from '../../../query/execution/connection.ts'
import { explainSelect } from '../../../query/execution/explain.ts'
import type { ColumnFact, InspectOptions } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { sqlTypes } from '../../../query/values/sql-type.ts'
import type { DatabaseRecord, DriverServices, OpenDatabase } from '../driver.ts'
import { passwordAssociatedData } from '../login-key.ts'
import { serverSchema } from '../stand-in.ts'
import { postgresDialect } from './dialect.ts'
import { estimateTable } from './estimate.ts'
import { fingerprintTable } from './fingerprint.ts'
import { checkReadable, columnNames, describeQuery, describeTable, readableName } from './introspect.ts'
import { longitudePeriods } from './longitude-periods.ts'
import { queryHint } from './query-hint.ts'
import { blameExternalServer, explained, explainStatement, whenFull } from './server-errors.ts'
import { listTables } from './tables.ts'
import type { SqlContext } from './tenant-sql/sql-relations.ts'
import { checkTenantSql, relationsOf } from './tenant-sql/tenant-sql.ts'
import { tlsOf } from './tls.ts'
import { serverVersions } from './versions.ts'

/** On PostgreSQL the application logs in as itself; embedded there is one session, so it takes the role on. */
export async function connectInternal(
  { db, secrets, platform, poolSize }: DriverServices,
  shared: SharedConnections,
  { applicationId }: DatabaseRecord,
): Promise<OpenDatabase> {
  const password = secrets.derive(`tenant ${applicationId}`)
  const [row] = await db.query<{ role: string }>(
    sql`SELECT svc.open_tenant(${applicationId}::uuid, ${password}) AS role`,
  )
  const role = row?.role ?? ''
  const catalog = selectOn(db, role).select
  // The application itself only reads: what is put into its schema is put there by the platform.
  const writable = { db, schema: role }
  if (platform === undefined) {
    return { connection: connectionOf({ ...selectOn(db, role, { role }), catalog }), writable, close: async () => {} }
  }
  const server = { platform: asRole(platform, role, password) }
  const own = openPostgres({ ...server, poolSize, shared, settings: guardedSession, whenFull, onError: () => {} })
  const connection = connectionOf({ ...selectOn(own, role), catalog, server, settings: settingsOf(role) })
  return { connection, writable, close: () => own.close() }
}

export async function connectServer(
  { secrets, resolve, poolSize }: DriverServices,
  shared: SharedConnections,
  record: DatabaseRecord,
): Promise<OpenDatabase> {
  const { host, port, user, applicationId } = record
  const password = record.password ? secrets.open(record.password, passwordAssociatedData(applicationId, record)) : ''
  const address = await resolve({ host, port })
  const ssl = tlsOf(record, address)
  const definition = `${record.id} ${record.revision}`
  const server = { host: address, port, user, password, database: record.db, ssl, owner: applicationId, definition }
  const db = openPostgres({ ...server, poolSize, shared, settings: guardedSession, whenFull, onError: () => {} })
  const { schema, select } = selectOn(db, serverSchema, { isExternal: true })
  // Its user may write, so everything runs in a read-only transaction.
  const connection = connectionOf({
    isExternal: true,
    schema,
    server,
    settings: settingsOf(schema),
    async select(statement, { atMost, ...options }) {
      const { batches, ...rest } = await select(statement, { ...options, inTransaction: true }).catch(
        blameExternalServer,
      )
      const mostRows = atMost ?? Number.POSITIVE_INFINITY
      const mostBytes = options.isStream ? Number.POSITIVE_INFINITY : maxCollectedBytes
      return { ...rest, batches: bounded(batches, mostRows, mostBytes) }
    },
  })
  return { connection, writable: { db, schema }, close: () => db.close() }
}

const sqlContext = ({ schema, catalog }: PostgresConnection): SqlContext => ({
  schema,
  isShared: catalog !== undefined,
})

/** In the platform's database whoever names a table must be able to read it, before anything is said of it. */
async function describeTenantQuery(
  postgres: PostgresConnection,
  text: string,
  query: Sql,
  options: InspectOptions,
): Promise<ColumnFact[]> {
  await checkReadable(postgres, await relationsOf(text, sqlContext(postgres)), options)
  return describeQuery(postgres, query, options)
}

async function projectionText(postgres: PostgresConnection, srid: number, options: SelectOptions) {
  const statement = sql`SELECT proj4text FROM spatial_ref_sys WHERE srid = ${srid}::int4`
  const { batches } = await postgres.select(statement, { ...options, atMost: 1, isTrusted: true })
  const [text] = (await Array.fromAsync(batches)).flat(2)
  return text?.trim() || undefined
}

/** What every Connection has, by PostgreSQL's own means. */
export function connectionOf(postgres: PostgresConnection): Connection {
  const { schema, isExternal } = postgres
  return {
    schema,
    ...(isExternal && { isExternal }),
    postgres,
    async select(statement, options) {
      const { columns, batches } = await postgres.select(statement, options)
      return { width: columns.length, batches }
    },
    dialect: async () => postgresDialect,
    parameterTypes: sqlTypes,
    explain: (statement, options) => explainSelect(postgres, statement, options),
    versions: (signal) => serverVersions(postgres, signal),
    tables: (page, signal) => listTables(postgres, page, signal),
    tableSql(source) {
      const table = readableName(source, schema)
      return ident(table.schema, table.name)
    },
    describeTable: (source, options) => describeTable(postgres, source, options),
    columnNames: (source, options) => columnNames(postgres, source, options),
    checkQuery: (text) => checkTenantSql(text, sqlContext(postgres)),
    describeQuery: (text, query, options) => describeTenantQuery(postgres, text, query, options),
    queryHint,
    projection: (srid, options) => projectionText(postgres, srid, options),
    estimate: (source, geometry, options) => estimateTable(postgres, source, geometry, options),
    periods: (source, geometries, options) => longitudePeriods(postgres, source, geometries, options),
    fingerprint: (source, options) => fingerprintTable(postgres, source, options),
  }
}

/** Of an answer that is not streamed to a client: an external server may send rows without end, whatever was asked. */
const maxCollectedBytes = 16 << 20

function bounded(batches: Batches, mostRows: number, mostBytes: number): Batches {
  const count = batchCounter(mostRows, mostBytes)
  if (!Array.isArray(batches)) return countedStream(batches, count)
  batches.forEach(count)
  return batches
}

function batchCounter(mostRows: number, mostBytes: number): (batch: ResultCell[][]) => void {
  let rows = 0
  let bytes = 0
  return (batch) => {
    rows += batch.length
    if (mostBytes < Number.POSITIVE_INFINITY) bytes += lengthOf(batch)
    if (rows > mostRows || bytes > mostBytes) {
      throw new ApiError('upstream_failed', 'The database server sent more rows than were asked for.')
    }
  }
}

async function* countedStream(
  batches: AsyncIterable<ResultCell[][]>,
  count: (batch: ResultCell[][]) => void,
): AsyncGenerator<ResultCell[][]> {
  try {
    for await (const batch of batches) {
      count(batch)
      yield batch
    }
  } catch (error) {
    blameExternalServer(error)
  }
}

const lengthOf = (batch: ResultCell[][]): number =>
  batch.reduce((sum, cells) => sum + cells.reduce((all, cell) => all + (cell?.length ?? 0), 0), 0)

/** For connections that are used outside of a guarded query. */
const settingsOf = (schema: string): string =>
  `SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET lock_timeout = '2s'; SET search_path = ${quoted(schema)}, public`

type SelectedAs = { readonly role?: string; readonly isExternal?: boolean }

function selectOn(
  db: Db,
  schema: string,
  { role, isExternal = false }: SelectedAs = {},
): Pick<PostgresConnection, 'schema' | 'select'> {
  return {
    schema,
    async select(statement, options) {
      const guarded = { ...options, schema, ...(role !== undefined && { role }) }
      const { batches, ...rest } = await db
        .guarded(statement, guarded)
        .catch(explainStatement(statement, { isTrusted: options.isTrusted === true, isExternal }))
      return { ...rest, batches: explained(batches, isExternal) }
    },
  }
}
