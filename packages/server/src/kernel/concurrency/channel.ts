import type { ChildProcess } from 'node:child_process'
import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads'
import { createHeartbeat, type HeartbeatCounter, lastJob, watchThread } from './thread-watchdog.ts'

/** A message channel to a worker thread or a child process, and its life. */
export type Channel = {
  send(message: unknown, transfer?: readonly Transferable[]): void
  listen(onMessage: (message: unknown) => void): void
  /** Whether this process waits for it before it ends. Of what was killed it always waits for the end, since somebody else may too. */
  hold(isHeld: boolean): void
  /** Ends it in the middle of whatever it does. */
  kill(): void
  /** Settles with the reason when it has ended, or could not be started. */
  readonly ended: Promise<Error>
  /** The request that a thread with a watchdog was at last. */
  atWork?(): number
}

/** What a thread that is started here finds in its `workerData`. */
export type ThreadData<T = unknown> = { readonly heartbeat: HeartbeatCounter; readonly data: T }

export type ThreadOptions = Pick<WorkerOptions, 'name' | 'execArgv' | 'resourceLimits'> & {
  readonly data?: unknown
  /** A thread that has no turn for so long is in a loop, and is ended. */
  readonly stalledMs?: number
}

export function startThread(
  script: URL,
  { data, stalledMs, ...options }: ThreadOptions = {},
): Channel & { readonly threadId: number } {
  const heartbeat = createHeartbeat()
  const worker = new Worker(script, { ...options, workerData: { heartbeat, data } satisfies ThreadData })
  if (stalledMs !== undefined) watchThread(worker, heartbeat, stalledMs)
  let failure: Error | undefined
  let isKilled = false
  worker.on('error', (error: Error) => {
    failure = error
  })
  return {
    send: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    listen: (onMessage) => void worker.on('message', onMessage),
    hold: (isHeld) => void (isHeld || isKilled ? worker.ref() : worker.unref()),
    kill() {
      isKilled = true
      void worker.terminate()
    },
    ended: new Promise((resolve) => {
      worker.once('exit', (code) => resolve(failure ?? new Error(`The thread ended with code ${code}.`)))
    }),
    threadId: worker.threadId,
    atWork: () => lastJob(heartbeat),
  }
}

export function processChannel(child: ChildProcess): Channel {
  let isKilled = false
  return {
    // What could not be sent is answered by the end of the process.
    send: (message) => void child.send(message as object, () => undefined),
    listen: (onMessage) => void child.on('message', onMessage),
    hold(isHeld) {
      for (const one of [child, child.channel]) {
        if (isHeld || isKilled) one?.ref()
        else one?.unref()
      }
    },
    kill() {
      isKilled = true
      child.ref()
      child.kill('SIGKILL')
    },
    ended: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(new Error(`The process ended with ${signal ?? `code ${code}`}.`)))
      // It could not be started.
      child.on('error', (error) => child.pid === undefined && resolve(error))
    }),
  }
}
