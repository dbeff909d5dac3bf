import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { unavailable } from './database-error.ts'
import {
  brokenId,
  type Command,
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
  /** Settles with the reason when the thread has ended. */
  readonly ended: Promise<unknown>
  close(): Promise<void>
  /** Ends the thread in the middle of whatever it does: the only way to stop a statement. */
  terminate(): Promise<void>
}

type Waiter = { resolve(outcome: Outcome): void; reject(error: unknown): void }

/**
 * Compiled code uses the thread's stack besides the one that PostgreSQL watches. With Node's 4 MB it overflows first,
 * and an overflow breaks the database, where PostgreSQL's own check only fails the statement.
 */
const stackSizeMb = 32

/** Beside this file: TypeScript when the sources run, JavaScript once they are compiled. */
const workerFile = new URL(`./embedded-worker${extname(import.meta.url)}`, import.meta.url)

export async function startSession(options: SessionOptions): Promise<Session> {
  const worker = new Worker(workerFile, {
    name: 'graticule-database',
    workerData: options,
    // The flags of the process, such as those of a test run, are not meant for this thread.
    execArgv: [],
    resourceLimits: { stackSizeMb },
  })
  const waiting = new Map<number, Waiter>()
  let nextId = openedId
  let over: { cause: unknown } | undefined
  let failure: unknown
  worker.on('message', (reply: Reply) => {
    const waiter = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.id === brokenId && 'fault' in reply) failure = new Error(reply.fault.message)
    else if ('fault' in reply) waiter?.reject(databaseError(reply.fault))
    else waiter?.resolve(reply.outcome)
  })
  worker.on('error', (error) => {
    failure = error
  })
  const ended = new Promise<unknown>((resolve) => {
    worker.once('exit', () => {
      over = { cause: failure ?? new Error('The thread of the embedded database has ended') }
      for (const { reject } of waiting.values()) reject(unavailable(over.cause))
      waiting.clear()
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
    ended,
    async close() {
      if (!over) await call({ kind: 'close' })
      await ended
    },
    async terminate() {
      await worker.terminate()
    },
  }
}
