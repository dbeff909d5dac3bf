import { extname } from 'node:path'
import { evaluateInBusyThread } from '../../concurrency/busy-thread.ts'
import { startThread } from '../../concurrency/channel.ts'
import { createCaller, WorkerEnded } from '../../concurrency/request-reply.ts'
import { unavailable } from '../database-error.ts'
import { type DatabaseFault, databaseError } from '../values.ts'
import type { StopReason } from './embedded-limits.ts'
import {
  type Breakdown,
  checkStatement,
  type EmbeddedCommand,
  type EmbeddedReply,
  type GuardedOutcome,
  type GuardedQuery,
  type Outcome,
  type SessionOptions,
} from './embedded-protocol.ts'

/** A session of the embedded database in a worker thread. Statements that run when it ends fail as `unavailable`. */
export type EmbeddedSession = {
  call(command: EmbeddedCommand): Promise<Outcome>
  /** `onBegun` is called when the query starts; before, the thread may be busy with maintenance. */
  guarded(query: GuardedQuery, onBegun: () => void): Promise<GuardedOutcome>
  /** Has the thread check the limits of the query that it runs, in the middle of it: why it was stopped, if it was. */
  checkStatement(): Promise<StopReason | undefined>
  /** Settles with the reason when the thread has ended. */
  readonly ended: Promise<unknown>
  /** Why the thread broke, if a limit of the query it was running is the reason. */
  readonly stopped: StopReason | undefined
  close(): Promise<void>
  /** Ends the thread in the middle of whatever it does: the only way to stop a statement that cannot be cancelled. */
  terminate(reason: Error): Promise<void>
}

/**
 * Compiled code uses the thread's stack besides the one that PostgreSQL watches. With Node's 4 MB it overflows first,
 * and an overflow breaks the database, where PostgreSQL's own check only fails the statement.
 */
const stackSizeMb = 32

/** Rows become garbage as soon as they are handed over; with Node's own size 100 MB of it would pile up. */
const maxYoungGenerationSizeMb = 24

/** Beside this file: TypeScript when the sources run, JavaScript once they are compiled. */
const workerFile = new URL(`./embedded-worker${extname(import.meta.url)}`, import.meta.url)

export async function startSession(options: SessionOptions): Promise<EmbeddedSession> {
  const channel = startThread(workerFile, {
    name: 'graticule-database',
    data: options,
    // The flags of the process, such as those of a test run, are not meant for this thread.
    execArgv: [],
    resourceLimits: { stackSizeMb, maxYoungGenerationSizeMb },
  })
  const opened = Promise.withResolvers<void>()
  let failure: Error | undefined
  let stopped: StopReason | undefined
  channel.listen((message) => {
    const { broken } = message as Partial<Breakdown>
    if (!broken) return
    failure = new Error(broken.message)
    stopped = broken.stopped
  })
  const caller = createCaller<EmbeddedCommand | GuardedQuery, EmbeddedReply, 'begun'>(channel, opened.resolve)
  const ended = caller.ended.then((cause) => failure ?? cause)
  void ended.then((cause) => opened.reject(unavailable(cause)))

  async function answerOf(answer: Promise<EmbeddedReply>): Promise<EmbeddedReply> {
    try {
      return await answer
    } catch (error) {
      throw error instanceof WorkerEnded ? unavailable(failure ?? error.cause) : error
    }
  }

  async function call(command: EmbeddedCommand): Promise<Outcome> {
    const transfer = command.kind === 'copy' ? [command.data.buffer as ArrayBuffer] : []
    const reply = (await answerOf(caller.call(command, { transfer }).answer)) as Outcome | { fault: DatabaseFault }
    if ('fault' in reply) throw databaseError(reply.fault)
    return reply
  }

  await opened.promise
  return {
    call,
    guarded: async (query, onNotice) => (await answerOf(caller.call(query, { onNotice }).answer)) as GuardedOutcome,
    async checkStatement() {
      const stopped = await evaluateInBusyThread(channel.threadId, `${checkStatement}()`).catch(() => undefined)
      return stopped as StopReason | undefined
    },
    ended,
    get stopped() {
      return stopped
    },
    async close() {
      await call({ kind: 'close' }).catch(() => undefined)
      await ended
    },
    async terminate(reason) {
      failure = reason
      channel.kill()
      await ended
    },
  }
}
