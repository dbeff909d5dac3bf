import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { streamOf } from '../connect-platform.ts'
import { publicError } from '../database-error.ts'
import type { DriverSocket } from '../wire/driver-socket.ts'
import { GuardedSocket } from '../wire/guarded-socket.ts'
import type { MessageMemory } from '../wire/message-framer.ts'
import { cancelStatement, connectClient, type PostgresServer, prepareSession } from './postgres-client.ts'
import { bindMessage, executeAndSync, parseMessage, queryMessage, terminateMessage } from './raw-messages.ts'
import { createMessageReader, messageCode, readError, readRow } from './raw-reader.ts'

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

/**
 * A connection whose rows are handed over as they lie in the network's buffers: no object is made of them, nothing is
 * decoded that nobody looks at. It carries one statement at a time, and none after one that failed.
 */
export type RawConnection = {
  /** What `onRow` throws ends the query. */
  run(statement: RawStatement, onRow: RowSink): Promise<void>
  /** Ends what is going on; the connection is closed then. */
  cancel(): void
  close(): void
  readonly isOpen: boolean
}

type Running = {
  readonly onRow: RowSink
  readonly at: Int32Array
  /** How many ReadyForQuery are still to come. */
  waiting: number
  error: Error | undefined
  resolve(): void
  reject(error: Error): void
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
  let running: Running | undefined
  const fail = (error: Error): void => {
    closed ??= error
    const ended = running
    running = undefined
    ended?.reject(publicErrorOf(error))
  }
  client.on('error', fail)
  // From here on the socket is ours: the login was the driver's work.
  const stream = streamOf(client) as Duplex & Partial<Pick<DriverSocket, 'allowLongAnswer'>>
  stream.removeAllListeners('data')
  stream.on('close', () => fail(new Error('Connection terminated')))
  const read = createMessageReader((code, bytes, start, end) => {
    const refusal = running && take(running, code, bytes, start, end)
    if (refusal) cancel(refusal)
    else if (running?.waiting === 0) finish()
  })
  stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })

  function finish(): void {
    const ended = running
    running = undefined
    if (ended?.error) {
      ended.reject(publicErrorOf(ended.error))
      close()
    } else ended?.resolve()
  }

  const messagesOf = createStatementMessages()
  function close(): void {
    closed ??= new Error('Connection terminated')
    if (!stream.destroyed) stream.end(terminateMessage)
    stream.destroy()
  }

  function cancel(reason: Error): void {
    cancelStatement(client)
    close()
    fail(reason)
  }

  return {
    run(statement, onRow) {
      if (closed) return Promise.reject(publicErrorOf(closed))
      return new Promise<void>((resolve, reject) => {
        const at = new Int32Array(2 * statement.binary.length)
        const waiting = statement.isUntrusted ? 3 : 1
        running = { onRow, at, waiting, error: undefined, resolve, reject }
        stream.allowLongAnswer?.()
        stream.write(Buffer.concat(messagesOf(statement)))
      })
    },
    cancel: () => cancel(new Error('The query was cancelled')),
    close,
    get isOpen() {
      return closed === undefined
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
    return await connectClient(server, 'graticule tiles', prepare, (tls) => new GuardedSocket(tls, memory))
  } catch (error) {
    throw publicErrorOf(error)
  }
}

/** Answers why a row was not taken, and so none of those that follow. */
function take(running: Running, code: number, bytes: Buffer, start: number, end: number): Error | undefined {
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
