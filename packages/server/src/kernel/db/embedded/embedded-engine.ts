import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type messages, PGlite, protocol } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { postgis } from '@electric-sql/pglite-postgis'
import { type DatabaseFault, databaseError, faultFields, type ResultCell, type ResultColumn } from '../values.ts'
import { type SessionOptions, temporaryDirectory } from './embedded-protocol.ts'
import { createStatementGuard, type StatementGuard } from './embedded-statement-guard.ts'

const { Parser, serialize } = protocol

/** What a message to the database brought. The status is PostgreSQL's: idle, in a transaction, or in a failed one. */
export type StatementResult = {
  columns: ResultColumn[]
  rows: ResultCell[][]
  command: string
  parsed: boolean
  fault: DatabaseFault | undefined
  status: 'I' | 'T' | 'E'
}

export type Engine = {
  /** Runs a statement by the extended protocol; `name` makes it a prepared statement or uses the one of that name. */
  query(text: string, values: ResultCell[], prepared?: { name: string; parsed: boolean }): Promise<StatementResult>
  /**
   * Runs the query of a cursor and hands over its rows while it runs; FETCH would collect them first. `onRow` must not throw:
   * compiled code calls it.
   */
  drain(cursor: string, onRow: (row: ResultCell[]) => void): Promise<StatementResult>
  script(text: string): Promise<StatementResult>
  copy(text: string, data: Uint8Array): Promise<StatementResult>
  /** COPY … TO STDOUT. `onData` must not throw either. */
  copyOut(text: string, onData: (rows: Uint8Array) => void): Promise<StatementResult>
  close(): Promise<void>
  readonly guard: StatementGuard
}

/** The parts of the compiled PostgreSQL that PGlite's types leave out. */
type Internals = {
  ___stack_pointer: { value: number }
  _PostgresMainLoopOnce(): void
  _QueryCancelPending: number
  _InterruptPending: number
  FS: { filesystems: { NODEFS: { realPath(node: unknown): string; stream_ops: StreamOperations } } }
}
type Stream = { nfd?: number; node: unknown }
type Transfer = (...parameters: unknown[]) => number
type StreamOperations = { fsync?(stream: Stream): number; read: Transfer; write: Transfer }

/**
 * PGlite switches fsync off, and its file system has none. With both put right (0.2 ms for each commit) an acknowledged
 * write survives a power cut and not only the end of the process.
 */
function durableFiles(directory: string, guard: StatementGuard): NodeFS {
  const files = new NodeFS(directory)
  const init = files.init.bind(files)
  files.init = async (database, options) => {
    const made = await init(database, options)
    if (!made.emscriptenOpts.wasmMemory) throw new Error('PGlite did not hand over its WebAssembly memory')
    guard.attach(made.emscriptenOpts.wasmMemory)
    made.emscriptenOpts.preRun?.push((module: unknown) => {
      const { NODEFS } = (module as Internals).FS.filesystems
      NODEFS.stream_ops.fsync = (stream) => {
        if (stream.nfd !== undefined) fsyncSync(stream.nfd)
        else syncDirectory(NODEFS.realPath(stream.node))
        return 0
      }
      const { read, write } = NODEFS.stream_ops
      NODEFS.stream_ops.read = (...parameters) => {
        guard.check()
        return read(...parameters)
      }
      NODEFS.stream_ops.write = (...parameters) => {
        guard.check()
        return write(...parameters)
      }
    })
    return made
  }
  return files
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

const settings = {
  wal_sync_method: 'fsync',
  // The operating system caches the files as well; a quarter of the default saves 100 MB of memory.
  shared_buffers: '32MB',
  // Nothing replicates from here, so bulk loads into new tables can skip the log.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '128MB',
  cursor_tuple_fraction: '1',
}

/** `onBroken` is told of what the compiled code cannot survive, and must not return. */
export async function openEngine(
  { directory, bundle, isScratch = false }: SessionOptions,
  onBroken: (error: unknown) => never,
): Promise<Engine> {
  // Large sorts and results of a process that was killed; only a server with a postmaster removes them itself.
  rmSync(join(directory, temporaryDirectory), { recursive: true, force: true })
  const guard = createStatementGuard()
  const database = await PGlite.create({
    fs: durableFiles(directory, guard),
    extensions: {
      postgis: {
        name: postgis.name,
        setup: async (instance, options) => ({
          ...(await postgis.setup(instance, options)),
          bundlePath: new URL(bundle),
        }),
      },
    },
    startParams: [
      // The parameter that switches fsync off.
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F' || isScratch),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
  })
  const internals = database.Module as unknown as Internals
  endWhenBroken(internals, onBroken)
  const stackPointer = internals.___stack_pointer
  const idleStack = stackPointer.value
  guard.open([internals._QueryCancelPending, internals._InterruptPending])

  async function send(parts: Uint8Array[], listeners: Listeners = {}): Promise<StatementResult> {
    const parser = new Parser()
    const answer = createAnswer(listeners)
    const onRawData = (bytes: Uint8Array): void => {
      guard.check()
      parser.parse(bytes, answer.add)
    }
    await database.execProtocolRawStream(Buffer.concat(parts), { syncToFs: false, onRawData })
    // PGlite does not unwind the C stack after an error: without this the 1800th failed statement is the last one.
    stackPointer.value = idleStack
    return answer.finish()
  }

  return {
    query(text, values, prepared) {
      const name = prepared?.name ?? ''
      const parse = prepared?.parsed ? [] : [serialize.parse({ text, name })]
      const bind = serialize.bind({ statement: name, values })
      // One message for all five steps: PGlite's own query() sends them one by one and takes five times as long.
      return send([...parse, bind, ...describeAndExecute('')])
    },
    drain: (cursor, onRow) => send(describeAndExecute(cursor), { onRow }),
    script: (text) => send([serialize.query(text)]),
    copy: (text, data) => send([serialize.query(text), copyData(data), serialize.copyDone()]),
    copyOut: (text, onData) => send([serialize.query(text)], { onData }),
    close: () => database.close(),
    guard,
  }
}

const describeAndExecute = (portal: string): Uint8Array[] => [
  serialize.describe({ type: 'P', name: portal }),
  serialize.execute({ portal }),
  serialize.sync(),
]

/** PGlite swallows every exception; after some it would go on with broken data, after others for ever. */
function endWhenBroken(internals: Internals, onBroken: (error: unknown) => never): void {
  const step = internals._PostgresMainLoopOnce
  internals._PostgresMainLoopOnce = () => {
    try {
      step()
    } catch (error) {
      // This is how the compiled code leaves a failed statement.
      if (error !== 'unwind') onBroken(error)
      throw error
    }
  }
}

/** PGlite's own serializer takes an ArrayBuffer and copies it twice. */
function copyData(data: Uint8Array): Uint8Array {
  const message = Buffer.allocUnsafe(5 + data.length)
  message.write('d', 'latin1')
  message.writeInt32BE(4 + data.length, 1)
  message.set(data, 5)
  return message
}

type Listeners = { onRow?(row: ResultCell[]): void; onData?(rows: Uint8Array): void }

function createAnswer({ onRow, onData }: Listeners) {
  const result: StatementResult = { columns: [], rows: [], command: '', parsed: false, fault: undefined, status: 'I' }
  const takeRow = onRow ?? ((row: ResultCell[]) => void result.rows.push(row))
  let ready = false
  let isTorn = false
  return {
    add(message: messages.BackendMessage): void {
      if (message.name === 'dataRow') takeRow((message as messages.DataRowMessage).fields)
      else if (message.name === 'copyData') onData?.((message as messages.CopyDataMessage).chunk)
      else if (message.name === 'rowDescription') result.columns = columnsOf(message as messages.RowDescriptionMessage)
      else if (message.name === 'commandComplete') result.command = (message as messages.CommandCompleteMessage).text
      else if (message.name === 'parseComplete') result.parsed = true
      else if (message.name === 'error') result.fault ??= faultOf(message as unknown as messages.DatabaseError)
      else if (message.name === 'readyForQuery') {
        ready = true
        result.status = (message as messages.ReadyForQueryMessage).status as StatementResult['status']
      } else isTorn ||= isLeftOpen(message)
    },
    finish(): StatementResult {
      if (!ready || isTorn)
        throw new Error('The embedded database stopped in the middle of a statement', {
          cause: result.fault && databaseError(result.fault),
        })
      return result
    },
  }
}

/**
 * A C++ exception of PROJ or GEOS that nobody catches leaves a statement in its middle, and PostgreSQL takes that for its end: it
 * suspends a query that has no limit, or warns of what was left open when the transaction ends.
 */
const isLeftOpen = (message: messages.BackendMessage): boolean =>
  message.name === 'portalSuspended' ||
  (message.name === 'notice' && leakRoutines.has((message as messages.NoticeMessage).routine ?? ''))

const leakRoutines: ReadonlySet<string> = new Set(['AtEOXact_Snapshot', 'ResourceOwnerReleaseAll'])

function columnsOf(description: messages.RowDescriptionMessage): ResultColumn[] {
  return description.fields.map(({ name, dataTypeID, dataTypeModifier }) => ({
    name,
    type: dataTypeID,
    modifier: dataTypeModifier,
  }))
}

function faultOf(error: messages.DatabaseError): DatabaseFault {
  const fault: DatabaseFault = { message: error.message }
  for (const field of faultFields) fault[field] = error[field]
  return fault
}
