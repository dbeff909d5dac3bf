import { type Attributes, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import type { Connections } from '../../data/databases/connection.ts'
import type { Db, Queryable, Row } from '../../kernel/db/db.ts'
import { compileSql, raw, type Sql } from '../../kernel/db/sql.ts'
import type { Connection, PostgresConnection } from '../../query/execution/connection.ts'
import { inSpan, markFailed } from './span.ts'
import { statementName, statementShape } from './statement-shape.ts'

type Of = 'platform' | 'tenant'

/** A span for each statement of the platform, inside a request or a job; what runs on its own, such as polling, has none. */
export function traceDb(db: Db, tracer: Tracer): Db {
  return {
    ...db,
    ...tracedQueryable(db, tracer),
    transaction: (work) => db.transaction((tx) => work({ ...tx, ...tracedQueryable(tx, tracer) })),
  }
}

/** The same for the statements of tenants, until their first rows. */
export function traceConnections(connections: Connections, tracer: Tracer): Connections {
  const tracedOf = new WeakMap<Connection, Connection>()
  const traced = (connection: Connection): Connection => {
    const wrapper = tracedOf.get(connection) ?? tracedConnection(connection, tracer)
    tracedOf.set(connection, wrapper)
    return wrapper
  }
  return {
    ...connections,
    open: async (record) => traced(await connections.open(record)),
    openPlatform: async (applicationId) => traced(await connections.openPlatform(applicationId)),
  }
}

function tracedConnection(connection: Connection, tracer: Tracer): Connection {
  const { selectBlocks, postgres } = connection
  return inherit(connection, {
    select: (statement, options) =>
      statementSpan(tracer, 'tenant', statement, () => connection.select(statement, options)),
    explain: (statement, options) =>
      statementSpan(tracer, 'tenant', statement, () => connection.explain(statement, options)),
    ...(selectBlocks && {
      selectBlocks: (statement, options) =>
        statementSpan(tracer, 'tenant', statement, () => selectBlocks.call(connection, statement, options)),
    }),
    ...(postgres && { postgres: tracedPostgres(postgres, tracer) }),
  })
}

const tracedPostgres = (postgres: PostgresConnection, tracer: Tracer): PostgresConnection =>
  inherit(postgres, {
    select: (statement, options) =>
      statementSpan(tracer, 'tenant', statement, () => postgres.select(statement, options)),
  })

/** The same object but for `changed`: also what it computes when it is asked. */
const inherit = <T extends object>(from: T, changed: Partial<T>): T => Object.assign(Object.create(from), changed)

function tracedQueryable(queryable: Queryable, tracer: Tracer): Queryable {
  const span = <T>(statement: Sql, work: () => Promise<T>) => statementSpan(tracer, 'platform', statement, work)
  return {
    query: <R extends Row>(statement: Sql) => span(statement, () => queryable.query<R>(statement)),
    rows: <R extends Row>(statement: Sql, options?: { batchSize?: number; signal?: AbortSignal }) =>
      tracedRows(tracer, statement, queryable.rows<R>(statement, options)),
    copyIn: (statement, chunks) => span(statement, () => queryable.copyIn(statement, chunks)),
    copyInBinary: (statement, tuples) => span(statement, () => queryable.copyInBinary(statement, tuples)),
    script: (text) => span(raw(text), () => queryable.script(text)),
  }
}

function statementSpan<T>(tracer: Tracer, of: Of, statement: Sql, work: () => Promise<T>): Promise<T> {
  if (!trace.getActiveSpan()?.isRecording()) return work()
  const { name, attributes } = described(of, statement)
  return inSpan(tracer, name, { kind: SpanKind.CLIENT, attributes }, work)
}

/** Until the last batch is read. */
async function* tracedRows<R>(tracer: Tracer, statement: Sql, batches: AsyncIterable<R[]>): AsyncGenerator<R[]> {
  if (!trace.getActiveSpan()?.isRecording()) return yield* batches
  const { name, attributes } = described('platform', statement)
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes })
  try {
    yield* batches
  } catch (error) {
    markFailed(span, error)
    throw error
  } finally {
    span.end()
  }
}

function described(of: Of, statement: Sql): { name: string; attributes: Attributes } {
  const shape = statementShape(compileSql(statement).text)
  const name = statementName(shape)
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': shape, 'db.query.summary': name }
  return { name, attributes: { ...attributes, 'graticule.database': of } }
}
