import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { streamOf } from '../connect-platform.ts'
import { isUnreadable, publicError } from '../database-error.ts'
import type { DriverSocket } from '../wire/driver-socket.ts'
import { GuardedSocket } from '../wire/guarded-socket.ts'
import type { MessageMemory } from '../wire/message-framer.ts'
import { cancelStatement, connectClient, type PostgresServer, prepareSession } from './postgres-client.ts'
import { bindMessage, executeAndSync, parseMessage, queryMessage, terminateMessage } from './raw-messages.ts'
import { createMessageReader, messageCode, readError, readRow } from './raw-reader.ts'
import { SharedBufferSocket } from './shared-buffer-socket.ts'

/** One column's values lie in `bytes` from `at[2i]` to `at[2i + 1]`; a start below 0 is NULL. Both are gone after the call. */
export type RowSink = (bytes: Buffer, at: Int32Array) => void

export type RawStatement = {
  readonly text: string
  readonly values: readonly (string | null)[]
  /** For each column of the answer: its binary form, or its text. */
  readonly binary: readonly boolean[]
  /** Somebody else wrote a part of it: it runs in a read-only transaction that is rolled back. */
  readonly isUntrusted: boolean
}

/** Called once, with what went wrong if something did. */
export type Done = (error?: Error) => void

/**
 * A connection whose rows are handed over as they lie in the network's buffers: no object is made of them, nothing is
 * decoded that nobody looks at. Statements that are sent before others have ended follow them (pipelining); a failure ends the
 * connection, and all that it carries, but for a value that cannot be read.
 */
export type RawConnection = {
  /** What `onRow` throws ends the query. */
  run(statement: RawStatement, onRow: RowSink): Promise<void>
  /** The same, sent with all others of this turn of the event loop. `done` must not throw. */
  send(statement: RawStatement, onRow: RowSink, done: Done): void
  /** Ends what is going on; the connection is closed then. */
  cancel(): void
  close(): void
  readonly isOpen: boolean
  /** The statements that have not ended. */
  readonly underWay: number
}

type RunningStatement = {
  readonly onRow: RowSink
  readonly at: Int32Array
  /** How many ReadyForQuery are still to come. */
  waiting: number
  error: Error | undefined
  readonly done: Done
}

const maxStatements = 100

/** `settings` are SQL commands for the session. */
export async function connectRaw(
  server: PostgresServer,
  settings: string,
  memory: MessageMemory,
): Promise<RawConnection> {
  const client = await logIn(server, settings, memory)
  let closed: Error | undefined
  const running: RunningStatement[] = []
  const fail = (error: Error): void => {
    closed ??= error
    for (const { done } of running.splice(0)) done(publicErrorOf(error))
  }
  client.on('error', fail)
  // From here on the socket is ours: the login was the driver's work.
  const stream = streamOf(client) as Duplex & Partial<Pick<DriverSocket, 'allowLongAnswer'>>
  stream.removeAllListeners('data')
  stream.on('close', () => fail(terminated()))
  const read = createMessageReader((code, bytes, start, end) => {
    // What still comes belongs to a statement that was given up.
    const first = closed ? undefined : running[0]
    const refusal = first && take(first, code, bytes, start, end)
    if (refusal) cancel(refusal)
    else if (first?.waiting === 0) finish(first)
  })
  readFrom(stream, read)

  function finish({ error, done }: RunningStatement): void {
    running.shift()
    done(error && publicErrorOf(error))
    if (error && !isUnreadable(error)) close()
  }

  function close(): void {
    closed ??= terminated()
    if (!stream.destroyed) stream.end(terminateMessage)
    stream.destroy()
  }

  function cancel(reason: Error): void {
    cancelStatement(client)
    close()
    running.shift()?.done(publicErrorOf(reason))
  }

  const outbox = createOutbox((bytes) => closed ?? stream.write(bytes))
  function add(statement: RawStatement, onRow: RowSink, done: Done): void {
    running.push(begun(statement, onRow, done))
    stream.allowLongAnswer?.()
    outbox.add(statement)
  }

  return {
    run(statement, onRow) {
      if (closed) return Promise.reject(publicErrorOf(closed))
      return new Promise<void>((resolve, reject) => {
        add(statement, onRow, (error) => (error ? reject(error) : resolve()))
        outbox.flush()
      })
    },
    send(statement, onRow, done) {
      if (closed) done(publicErrorOf(closed))
      else {
        add(statement, onRow, done)
        outbox.flushSoon()
      }
    },
    cancel: () => cancel(new Error('The query was cancelled')),
    close,
    get isOpen() {
      return closed === undefined
    },
    get underWay() {
      return running.length
    },
  }
}

/** What is no message ends the connection. */
function readFrom(stream: Duplex, read: (chunk: Buffer) => void): void {
  const receive = (chunk: Buffer): void => {
    try {
      read(chunk)
    } catch (error) {
      stream.destroy(error as Error)
    }
  }
  if (stream instanceof SharedBufferSocket) stream.receiveBy(receive)
  else stream.on('data', receive)
}

const begun = ({ binary, isUntrusted }: RawStatement, onRow: RowSink, done: Done): RunningStatement => ({
  onRow,
  at: new Int32Array(2 * binary.length),
  waiting: isUntrusted ? 3 : 1,
  error: undefined,
  done,
})

const terminated = (): Error => new Error('Connection terminated')

/** The messages that are still to be written: at once, or all of this turn of the event loop together. */
function createOutbox(write: (bytes: Buffer) => unknown) {
  const messagesOf = createStatementMessages()
  let waiting: Buffer[] = []
  let isPlanned = false
  function flush(): void {
    isPlanned = false
    if (waiting.length > 0) write(Buffer.concat(waiting))
    waiting = []
  }
  return {
    add: (statement: RawStatement) => void waiting.push(...messagesOf(statement)),
    flush,
    flushSoon(): void {
      if (!isPlanned) setImmediate(flush)
      isPlanned = true
    },
  }
}

/** What is sent for a statement. The first ones are prepared under a name and parsed once. */
function createStatementMessages(): (statement: RawStatement) => Buffer[] {
  const names = new Map<string, string>()
  let made = 0
  return ({ text, values, binary, isUntrusted }) => {
    const keptName = names.get(text)
    // A statement that was not kept has no name and goes with the next one.
    const isKept = keptName !== undefined || names.size < maxStatements
    const name = keptName ?? (isKept ? `t${made++}` : '')
    if (isKept) names.set(text, name)
    const messages = keptName === undefined ? [parseMessage(name, text)] : []
    messages.push(bindMessage(name, values, binary), executeAndSync)
    return isUntrusted ? [queryMessage('BEGIN READ ONLY'), ...messages, queryMessage('ROLLBACK')] : messages
  }
}

/** A tile thread speaks to external servers itself: it is watched as the thread of relay.ts is. */
async function logIn(server: PostgresServer, settings: string, memory: MessageMemory): Promise<pg.Client> {
  const prepare = (client: pg.Client): Promise<void> => prepareSession(client, settings)
  try {
    const own = 'platform' in server ? { stream: () => new SharedBufferSocket() } : {}
    return await connectClient(server, 'graticule tiles', prepare, (tls) => new GuardedSocket(tls, memory), own)
  } catch (error) {
    throw publicErrorOf(error)
  }
}

/** Answers why a row was not taken, and so none of those that follow. */
function take(running: RunningStatement, code: number, bytes: Buffer, start: number, end: number): Error | undefined {
  if (code === messageCode.dataRow) {
    if (running.error) return undefined
    try {
      readRow(bytes, start, running.at)
      running.onRow(bytes, running.at)
    } catch (error) {
      return error as Error
    }
  } else if (code === messageCode.error) running.error ??= readError(bytes, start, end)
  else if (code === messageCode.ready) running.waiting--
  return undefined
}

const publicErrorOf = (error: unknown): Error => publicError(error) as Error
