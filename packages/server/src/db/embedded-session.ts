import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { unavailable } from './database-error.ts'
import type { Stopped } from './embedded-limits.ts'
import {
  brokenId,
  type Command,
  type GuardedOutcome,
  type GuardedQuery,
  type Outcome,
  openedId,
  type Reply,
  type Request,
  type SessionOptions,
} from './embedded-protocol.ts'
import { databaseError } from './values.ts'

/** One life of the embedded database, in a thread of its own. What it was doing when it ends fails as `unavailable`. */
export type Session = {
  call(command: Command): Promise<Outcome>
  /** `onBegun` is called when the query begins: before, the thread may be busy with its own upkeep. */
  guarded(query: GuardedQuery, onBegun: () => void): Promise<GuardedOutcome>
  /** Settles with the reason when the thread has ended. */
  readonly ended: Promise<unknown>
  /** Why the thread broke, if a limit of the query it was running is the reason. */
  readonly stopped: Stopped | undefined
  close(): Promise<void>
  /** Ends the thread in the middle of whatever it does: the only way to stop a statement that never calls out. */
  terminate(reason: Error): Promise<void>
}

type Waiter = {
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}
type GuardedWaiter = {
  resolve(outcome: GuardedOutcome): void
  reject(error: unknown): void
  onBegun(): void
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

export async function startSession(options: SessionOptions): Promise<Session> {
  const worker = new Worker(workerFile, {
    name: 'graticule-database',
    workerData: options,
    // The flags of the process, such as those of a test run, are not meant for this thread.
    execArgv: [],
    resourceLimits: { stackSizeMb, maxYoungGenerationSizeMb },
  })
  const waiting = new Map<number, Waiter>()
  const guarded = new Map<number, GuardedWaiter>()
  let nextId = openedId
  let over: { cause: unknown } | undefined
  let failure: unknown
  let stopped: Stopped | undefined
  worker.on('message', (reply: Reply) => {
    if ('begun' in reply) return guarded.get(reply.id)?.onBegun()
    if ('guarded' in reply) return take(guarded, reply.id)?.resolve(reply.guarded)
    if ('outcome' in reply) return take(waiting, reply.id)?.resolve(reply.outcome)
    if (reply.id !== brokenId) return take(waiting, reply.id)?.reject(databaseError(reply.fault))
    failure = new Error(reply.fault.message)
    stopped = reply.stopped
  })
  worker.on('error', (error) => {
    failure = error
  })
  const ended = new Promise<unknown>((resolve) => {
    worker.once('exit', () => {
      over = { cause: failure ?? new Error('The thread of the embedded database has ended') }
      for (const { reject } of [...waiting.values(), ...guarded.values()]) reject(unavailable(over.cause))
      waiting.clear()
      guarded.clear()
      resolve(over.cause)
    })
  })

  const answerTo = (id: number): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })

  async function call(command: Command): Promise<Outcome> {
    if (over) throw unavailable(over.cause)
    const request: Request = { id: ++nextId, command }
    const answer = answerTo(request.id)
    worker.postMessage(request, command.kind === 'copy' ? [command.data.buffer as ArrayBuffer] : [])
    return await answer
  }

  await answerTo(openedId)
  return {
    call,
    async guarded(query, onBegun) {
      if (over) throw unavailable(over.cause)
      const request: Request = { id: ++nextId, command: query }
      worker.postMessage(request)
      return await new Promise((resolve, reject) => guarded.set(request.id, { resolve, reject, onBegun }))
    },
    ended,
    get stopped() {
      return stopped
    },
    async close() {
      if (!over) await call({ kind: 'close' })
      await ended
    },
    async terminate(reason) {
      failure = reason
      await worker.terminate()
    },
  }
}

function take<T>(map: Map<number, T>, id: number): T | undefined {
  const value = map.get(id)
  map.delete(id)
  return value
}
