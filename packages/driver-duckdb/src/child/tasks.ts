import { type DuckDBConnection, version } from '@duckdb/node-api'
import { DuckdbFault } from '../fault.ts'
import type { DatabaseAddress, DuckdbColumn, DuckdbQuery, Task } from '../messages.ts'
import { commonSystem } from './common-system.ts'
import type { Databases, OpenDatabase } from './database.ts'
import { withoutPaths } from './engine-error.ts'
import { withConnection } from './instance.ts'
import { asBlocks } from './rows/row-block.ts'
import {
  asRows,
  type Batch,
  type BatchForm,
  batchesOfSelection,
  bind,
  findError,
  inParentheses,
  planSelection,
  type Selection,
  StreamBroken,
} from './rows/run-select.ts'
import type { SqlChecker } from './sql/check-sql.ts'
import { writeParquet } from './write-parquet.ts'

/** What the server can ask of this process. */
export type TaskContext = { readonly databases: Databases; readonly checker: SqlChecker }

/** One request that is being worked on. */
export type Job = {
  readonly signal: AbortSignal
  /** Until the server takes one more batch. */
  ready(): Promise<void>
  sendColumns(columns: readonly DuckdbColumn[]): void
  send(batch: Batch): void
}

export function runTask(
  { databases, checker }: TaskContext,
  address: DatabaseAddress,
  task: Task,
  job: Job,
): Promise<unknown> {
  return databases.use(address, job.signal, async (database) => {
    if (task.kind === 'tables') {
      const { tables, refused } = database
      return { tables: [...tables.values()], refused, version: version().replace(/^v/, '') }
    }
    if (task.kind === 'check') return { tables: await checkAlone(checker, database, task.text) }
    if (task.kind === 'describe') return describe(checker, database, task.text, job)
    if (task.kind === 'explain') return explain(checker, database, task.query, job)
    if (task.kind === 'write') {
      await checker.check(inParentheses(task.query.text), isReadable(database))
      return interruptible(database, job, (connection) => writeParquet(connection, database, task.name, task.query))
    }
    return select(checker, database, task.query, task.kind === 'blocks' ? asBlocks : asRows, job)
  })
}

const isTableOf =
  ({ tables }: OpenDatabase) =>
  (name: string): boolean =>
    tables.has(name)

/** Also those with positions, and written ones, which no text of somebody's may name: that is checked before it becomes a part of a query. */
const isReadable =
  ({ tables, written }: OpenDatabase) =>
  (name: string): boolean =>
    tables.has(name) || written.has(name) || tables.values().some(({ withPositions }) => withPositions === name)

/** By itself and inside parentheses: one that is only good in one of these places is not what it seems. */
async function checkAlone(checker: SqlChecker, database: OpenDatabase, text: string): Promise<string[]> {
  const tables = await checker.check(text, isTableOf(database))
  await checker.check(inParentheses(text), isTableOf(database)).catch(() => {
    throw new DuckdbFault('refused', 'The SQL must be good inside parentheses: leave out a semicolon at its end.')
  })
  return tables
}

async function describe(checker: SqlChecker, database: OpenDatabase, text: string, job: Job): Promise<DuckdbColumn[]> {
  const names = await checkAlone(checker, database, text)
  return interruptible(database, job, async (connection) => {
    const { columns } = await planSelection(connection, text, asRows)
    return columns.map(commonSystem(database.tables, names))
  })
}

async function explain(checker: SqlChecker, database: OpenDatabase, query: DuckdbQuery, job: Job): Promise<unknown> {
  await checker.check(inParentheses(query.text), isTableOf(database))
  return interruptible(database, job, async (connection) => {
    const prepared = await connection.prepare(`EXPLAIN (FORMAT JSON) ${inParentheses(query.text)}`)
    try {
      bind(prepared, query.values)
      const reader = await prepared.runAndReadAll()
      return JSON.parse(withoutPaths(String(reader.getRows()[0]?.[1]), [database.directory]))
    } finally {
      prepared.destroySync()
    }
  })
}

async function select(
  checker: SqlChecker,
  database: OpenDatabase,
  query: DuckdbQuery,
  form: BatchForm,
  job: Job,
): Promise<void> {
  const names = await checker.check(inParentheses(query.text), isReadable(database))
  await interruptible(database, job, async (connection) => {
    const selection = await planSelection(connection, query.text, form, query.values)
    // The very text that runs.
    await checker.check(selection.statement, isReadable(database))
    job.sendColumns(selection.columns.map(commonSystem(database.tables, names)))
    await sendBatches(connection, selection, query, job)
  })
}

async function sendBatches(
  connection: DuckDBConnection,
  selection: Selection,
  query: DuckdbQuery,
  job: Job,
): Promise<void> {
  try {
    for await (const batch of batchesOfSelection(connection, selection, query.values, job.ready)) {
      job.signal.throwIfAborted()
      job.send(batch)
    }
  } catch (error) {
    job.signal.throwIfAborted()
    if (!(error instanceof StreamBroken)) throw error
    throw await findError(connection, selection, query.values)
  }
}

/** An interrupt that comes between two statements is lost, so it is repeated. */
const repeatMs = 50

function interruptible<T>(
  { instance }: OpenDatabase,
  { signal }: Job,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  return withConnection(instance, async (connection) => {
    let repeating: NodeJS.Timeout | undefined
    const interrupt = (): void => {
      connection.interrupt()
      repeating ??= setInterval(interrupt, repeatMs)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', interrupt, { once: true })
    try {
      return await work(connection)
    } finally {
      signal.removeEventListener('abort', interrupt)
      clearInterval(repeating)
    }
  })
}
