import { join } from 'node:path'
import { cursorRows, type RowsOptions } from '../cursor.ts'
import { withFirstTransforms } from '../database-error.ts'
import type { Db, Row, Transaction, TransactionOptions } from '../db.ts'
import { createSessionQueue, type SessionQueue } from '../session-queue.ts'
import type { Sql } from '../sql.ts'
import {
  assertCommitted,
  assertOpen,
  createTransactionScope,
  type OpenTransaction,
  strayTransaction,
  type TransactionScope,
} from '../transaction-scope.ts'
import { encodeStatement, type ResultCell, rowReader } from '../values.ts'
import { copyInPaced, copyInPieces, textPieces, tuplePieces } from './embedded-copy-in.ts'
import { createGuarded } from './embedded-guarded.ts'
import { defaultLimits, type EmbeddedLimits } from './embedded-limits.ts'
import { lockDirectory } from './embedded-lock.ts'
import { type Outcome, temporaryDirectory } from './embedded-protocol.ts'
import { createScratches, removeScratches } from './embedded-scratch.ts'
import type { EmbeddedSession } from './embedded-session.ts'
import { createSessions, type Sessions } from './embedded-sessions.ts'
import { createSpools, type Spools } from './embedded-spool.ts'
import { prepareDataDirectory } from './embedded-template.ts'

export type EmbeddedOptions = {
  directory: string
  onError(error: unknown): void
  limits?: EmbeddedLimits
  isScratch?: boolean
}

/** The platform's database inside this process: PGlite with PostGIS, in a thread, its files in `directory`. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Db> {
  const { directory, onError, limits = defaultLimits, isScratch = false } = options
  await prepareDataDirectory(directory)
  const lock = lockDirectory(directory)
  if (!isScratch) await removeScratches(directory)
  const sessions = await createSessions({ directory, isScratch }, onError).catch((error) => {
    lock.release()
    throw new Error(`The database in ${directory} cannot be opened`, { cause: error })
  })
  const queue = createSessionQueue({ maxWaiting: limits.waiting, heavyMs: limits.heavyMs })
  const spools = createSpools(join(directory, temporaryDirectory))
  const guarded = createGuarded({ sessions, queue, spools, limits })
  const scope = createTransactionScope()
  const scratches = createScratches(directory, (own) => openEmbedded({ directory: own, onError, isScratch: true }))

  /** One statement, between those of others, but never inside the transaction of another. */
  async function single(run: (session: EmbeddedSession) => Promise<Outcome>, queued = queue.shared): Promise<Outcome> {
    scope.refuseInside()
    const outcome = await queued(async () => run(await sessions.current()))
    if (outcome.strayTransaction) throw strayTransaction()
    return outcome
  }

  async function transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    { isPiece = false }: TransactionOptions = {},
  ): Promise<T> {
    scope.refuseInside()
    return await queue[isPiece ? 'piece' : 'exclusive'](async () =>
      transact(await sessions.current(), scope, spools, work),
    )
  }

  let closing: Promise<unknown> | undefined
  const copyPiece = (text: string, data: Uint8Array) =>
    single((session) => session.call({ kind: 'copy', text, data }), queue.piece)
  return {
    kind: 'embedded',
    async query<R extends Row>(statement: Sql) {
      const { text, values } = encodeStatement(statement)
      return readRows<R>(
        await single((session) => session.call({ kind: 'query', text, values, single: true, reused: true })),
      )
    },
    rows<R extends Row>(statement: Sql, rowsOptions: RowsOptions = {}) {
      scope.refuseInside()
      return rowsOf<R>(sessions, queue, statement, rowsOptions)
    },
    copyIn: (statement, chunks) => transaction((tx) => tx.copyIn(statement, chunks)),
    // Not in one transaction, which would keep everybody else waiting: the pieces before a failure stay.
    copyInBinary: (statement, tuples) => copyInPaced(statement, tuples, copyPiece),
    script: (text) => single((session) => session.call({ kind: 'script', text, single: true })).then(() => undefined),
    transaction,
    async guarded(statement, guardedOptions) {
      scope.refuseInside()
      return await guarded(statement, guardedOptions)
    },
    noteRequest: queue.noteRequest,
    openBeside: scratches.open,
    copyFiles: (target) => queue.exclusive(async () => copyFiles(await sessions.current(), directory, target)),
    async close() {
      closing ??= queue
        .exclusive(() => Promise.all([sessions.close(), spools.close(), scratches.close()]))
        .finally(() => lock.release())
      await closing
    },
  }
}

async function* rowsOf<R extends Row>(
  sessions: Sessions,
  queue: SessionQueue,
  statement: Sql,
  options: RowsOptions,
): AsyncGenerator<R[]> {
  // The cursor belongs to this session: should the database start anew, the rest of the rows is lost.
  const session = await sessions.current()
  const step = async (text: string, values: ResultCell[]): Promise<R[]> =>
    readRows<R>(await queue.shared(() => session.call({ kind: 'query', text, values, single: true, reused: false })))
  yield* cursorRows<R>(step, statement, { ...options, hold: true })
}

async function copyFiles(session: EmbeddedSession, directory: string, target: string): Promise<void> {
  await session.call({ kind: 'copyFiles', directory, target })
}

function transact<T>(
  session: EmbeddedSession,
  scope: TransactionScope,
  spools: Spools,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const streams: Streams = { hasRead: false }
  const run = () => scope.run((open) => work(createTransaction(session, open, spools, streams)))
  return withFirstTransforms(
    () => transactOnce(session, run),
    () => !streams.hasRead,
  )
}

/** One that was read into a transaction cannot be read again. */
type Streams = { hasRead: boolean }

async function transactOnce<T>(session: EmbeddedSession, work: () => Promise<T>): Promise<T> {
  await command(session, 'BEGIN')
  try {
    const result = await work()
    assertCommitted(await command(session, 'COMMIT'))
    return result
  } catch (error) {
    // Fails only when the session has ended, and the transaction with it.
    await command(session, 'ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function command(session: EmbeddedSession, text: string): Promise<string> {
  return (await session.call({ kind: 'query', text, values: [], single: false, reused: true })).command
}

function createTransaction(
  session: EmbeddedSession,
  transaction: OpenTransaction,
  spools: Spools,
  streams: Streams,
): Transaction {
  const run = async <R extends Row>(text: string, values: ResultCell[], reused: boolean): Promise<R[]> => {
    assertOpen(transaction)
    return readRows<R>(await session.call({ kind: 'query', text, values, single: false, reused }))
  }
  const copyIn = (statement: Sql, pieces: AsyncIterable<Uint8Array>): Promise<number> => {
    assertOpen(transaction)
    streams.hasRead = true
    return copyInPieces(statement, pieces, (text, data) => session.call({ kind: 'copy', text, data }))
  }
  return {
    async query<R extends Row>(statement: Sql) {
      const { text, values } = encodeStatement(statement)
      return await run<R>(text, values, true)
    },
    async cancellable<R extends Row>(statement: Sql, signal: AbortSignal) {
      signal.throwIfAborted()
      const { text, values } = encodeStatement(statement)
      const answer = await run<R>(text, values, false)
      signal.throwIfAborted()
      return answer
    },
    rows: <R extends Row>(statement: Sql, options: RowsOptions = {}) =>
      cursorRows<R>((text, values) => run<R>(text, values, false), statement, { ...options, hold: false }),
    copyIn: async (statement, chunks) => await copyIn(statement, textPieces(chunks)),
    copyInBinary: async (statement, tuples) => await copyIn(statement, tuplePieces(tuples)),
    async script(text) {
      assertOpen(transaction)
      await session.call({ kind: 'script', text, single: false })
    },
    async *copyOut(statement) {
      assertOpen(transaction)
      const { file } = await spools.take()
      try {
        await session.call({ kind: 'copyOut', text: encodeStatement(statement).text, spool: file.fd })
        yield* file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>
      } finally {
        await file.close()
      }
    },
  }
}

function readRows<R extends Row>(outcome: Outcome): R[] {
  return outcome.rows.map(rowReader<R>(outcome.columns))
}
