import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CallOptions, Exchange, ReadBatch, StartedQuery } from './exchange.ts'
import { DuckdbFault } from './fault.ts'
import type { Cell, DuckdbColumn, DuckdbQuery, Tables, Task, WrittenFile } from './messages.ts'
import { createProcessPool } from './process-pool.ts'
import { directoryPrefix } from './tenant-process.ts'

/** Folders of files as databases: DuckDB in a process of its own for each tenant. */

export type DuckdbOptions = {
  /** Made when it is absent. */
  readonly temporaryDirectory: string
  /** What one process may take; the operating system holds it to that. */
  readonly memoryMb?: number
  readonly threads?: number
  readonly maxProcesses?: number
  /** A process without work ends after this. */
  readonly idleMs?: number
  /** For so long a query may go on after it was interrupted; then its process ends. Some functions do not look up. */
  readonly graceMs?: number
  /** For the log. */
  onError(error: unknown): void
}

export type DuckdbRecord = {
  readonly tenant: string
  readonly id: string
  /** Absolute, without symbolic links. */
  readonly directory: string
}

export type Duckdb = {
  /** Starts nothing: the tenant's process starts with the first call. */
  open(record: DuckdbRecord): DuckdbDatabase
  close(): Promise<void>
}

export type SelectOptions = CallOptions & { readonly timeoutMs: number }

export type DuckdbDatabase = {
  tables(options?: CallOptions): Promise<Tables>
  /** Throws unless it is one SELECT within the allow-list, over tables of the folder, which it answers. */
  check(text: string, options?: CallOptions): Promise<{ readonly tables: readonly string[] }>
  /** The columns of an answer, without running the query. */
  describe(text: string, options?: CallOptions): Promise<readonly DuckdbColumn[]>
  start(query: DuckdbQuery, options: SelectOptions): Promise<StartedQuery>
  select(query: DuckdbQuery, options: SelectOptions): AsyncIterable<Cell[][]>
  /**
   * The same as row blocks, for those who read no text: each cell is its length as a big-endian int32, -1 for null, and its
   * bytes. These are WKB of a geometry, 1 or 0 of a boolean, and the text of anything else in UTF-8.
   */
  startBlocks(query: DuckdbQuery, options: SelectOptions): Promise<StartedQuery<Uint8Array>>
  explain(query: DuckdbQuery, options?: CallOptions): Promise<unknown>
  /**
   * Writes the rows of a SELECT without values into a Parquet file of the temporary directory; later queries of the same process
   * find them as `written <name>`. For queries of the caller's own: `check` refuses such names in texts of others.
   */
  write(name: string, query: DuckdbQuery, options: SelectOptions): Promise<WrittenFile>
}

export function createDuckdb({
  temporaryDirectory,
  memoryMb = 1024,
  threads = 2,
  maxProcesses = 8,
  idleMs = 60_000,
  graceMs = 1_000,
  onError,
}: DuckdbOptions): Duckdb {
  mkdirSync(temporaryDirectory, { recursive: true })
  sweep(temporaryDirectory)
  const pool = createProcessPool({ temporaryDirectory, memoryMb, threads, maxProcesses, idleMs, graceMs, onError })
  return {
    open({ tenant, id, directory }) {
      const begin = (task: Task, options: CallOptions = {}): Exchange => {
        options.signal?.throwIfAborted()
        return pool.begin(tenant, { id, directory }, task, options)
      }
      const ask = (task: Task, options?: CallOptions): Promise<unknown> =>
        unlessBystander(() => begin(task, options).answer())
      const start = (query: DuckdbQuery, options: SelectOptions): Promise<StartedQuery> =>
        unlessBystander(() => begin({ kind: 'select', query }, options).start(readRows))
      return {
        tables: async (options) => (await ask({ kind: 'tables' }, options)) as Tables,
        check: async (text, options) => (await ask({ kind: 'check', text }, options)) as { tables: string[] },
        describe: async (text, options) => (await ask({ kind: 'describe', text }, options)) as DuckdbColumn[],
        write: async (name, query, options) => (await ask({ kind: 'write', query, name }, options)) as WrittenFile,
        explain: (query, options) => ask({ kind: 'explain', query }, options),
        start,
        startBlocks: (query, options) =>
          unlessBystander(() => begin({ kind: 'blocks', query }, options).start(readBlock)),
        async *select(query, options) {
          yield* (await start(query, options)).batches
        },
      }
    },
    close: pool.close,
  }
}

const readRows: ReadBatch<Cell[][]> = (reply) => (reply.kind === 'rows' ? reply.rows : undefined)
const readBlock: ReadBatch<Uint8Array> = (reply) =>
  reply.kind === 'block' ? Buffer.from(reply.block, 'base64') : undefined

/** Once more, in a new process, where the first was ended on account of another query and no row has been seen yet. */
async function unlessBystander<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DuckdbFault && error.isBystander) return work()
    throw error
  }
}

/** What servers left that were ended by force. */
function sweep(temporaryDirectory: string): void {
  for (const name of readdirSync(temporaryDirectory)) {
    const [, pid] = /^(\d+)-/.exec(name.slice(directoryPrefix.length)) ?? []
    if (!name.startsWith(directoryPrefix) || pid === undefined || isAlive(Number(pid))) continue
    rmSync(join(temporaryDirectory, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
