import cluster from 'node:cluster'
import type { Envelope } from '../../kernel/bus/ipc-bus.ts'
import type { BusRouter } from '../../kernel/bus/ipc-router.ts'
import type { MetricsCollector } from './collect-metrics.ts'
import {
  type SupervisorMessage,
  type UploadNews,
  type WorkerAssignment,
  type WorkerMessage,
  workerVariable,
} from './messages.ts'

/** One process of a worker, from its start to its end. */
export type WorkerProcess = {
  /** Settles when it listens, with true, or when it has ended before. */
  readonly ready: Promise<boolean>
  /** The signal or the code with which it has ended. */
  readonly ended: Promise<string | number>
  tell(message: SupervisorMessage): void
  /** Kills it if it has not ended by itself in time. */
  end(ask: 'SIGTERM' | 'retire'): Promise<void>
}

export type Exchange = {
  readonly router: BusRouter
  readonly metrics: MetricsCollector
  onUpload(from: WorkerProcess, news: UploadNews): void
}

/** A worker ends by itself 25 s after it was told to; this is for one that cannot. */
const killMs = 40_000

export function startWorkerProcess(
  assignment: WorkerAssignment,
  { router, metrics, onUpload }: Exchange,
): WorkerProcess {
  const worker = cluster.fork({ [workerVariable]: JSON.stringify(assignment) })
  const ready = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<string | number>()
  // What could not be sent is answered by the end of the process.
  const tell = (message: SupervisorMessage): void => void worker.process.send?.(message, () => undefined)
  const deliver = (envelope: Envelope): void => tell({ k: 'bus', envelope })
  metrics.add(worker.id, tell)
  worker.on('message', (message: WorkerMessage) => {
    if (message.k === 'bus') router.receive(message.envelope, deliver)
    else if (message.k === 'ready') ready.resolve(true)
    else if (message.k === 'upload') onUpload(process, message)
    else metrics.receive(worker.id, message)
  })
  worker.once('exit', (code, signal) => {
    router.remove(deliver)
    metrics.remove(worker.id)
    ready.resolve(false)
    ended.resolve(signal ?? code)
  })
  const process: WorkerProcess = {
    ready: ready.promise,
    ended: ended.promise,
    tell,
    async end(ask) {
      if (ask === 'retire') tell({ k: 'retire' })
      else worker.process.kill(ask)
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), killMs)
      await ended.promise
      clearTimeout(timer)
    },
  }
  return process
}
