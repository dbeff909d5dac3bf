import cluster from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBusRouter } from '../../kernel/bus/ipc-router.ts'
import { doubling } from '../../kernel/concurrency/retry.ts'
import { createMetricsCollector } from './collect-metrics.ts'
import { type Exchange, startWorkerProcess, type WorkerProcess } from './worker-process.ts'

/**
 * The supervisor of a server with several workers: each is the whole server in a process of its own, a replica in every
 * sense. They share the listening socket, from which each accepts by itself: so a connection costs the supervisor nothing,
 * and none waits for a worker that has died. The supervisor replaces workers, carries the bus between them and adds up their
 * metrics. It loads nothing else, so it stays small.
 */
export type Supervisor = {
  /** Until all workers have ended after `stop`. Gives the exit code: not 0 if the first worker could not start. */
  run(stop: AbortSignal): Promise<number>
  /** Replaces the workers one by one, without failing a request. */
  restart(): Promise<void>
}

export type Log = (level: 'info' | 'error', fields: object, text: string) => void

/** A place for a process, and the one that has it. */
type Slot = {
  readonly number: number
  process: WorkerProcess | undefined
  /** Whether the present process, or the one that will follow it, listens. */
  ready: Promise<boolean>
  startedAt: number
  /** How many processes in a row have ended soon after their start. */
  failures: number
  isRetiring: boolean
}

/** A process that lived for longer does not count as one that keeps dying. */
const soundMs = 60_000
const furtherDelayMs = doubling(500, 30_000)

/** The first death is made good at once, further ones after longer and longer pauses. */
const delayAfter = (failures: number): number => (failures <= 1 ? 0 : furtherDelayMs(failures - 1))

export function createSupervisor(count: number, log: Log): Supervisor {
  // Each worker accepts from the one socket. Handing connections out in turn would cost the supervisor 40 µs for each, and a
  // worker that dies before it took one would leave its client hanging.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ serialization: 'advanced' })
  const slots = Array.from({ length: count }, (_, index) => emptySlot(index + 1))
  const exchange: Exchange = {
    router: createBusRouter(),
    metrics: createMetricsCollector(),
    onUpload(from, news) {
      for (const { process } of slots) if (process !== from) process?.tell(news)
    },
  }
  let hasBegun = false
  let hasStopped = false
  let isRestarting = false

  function start(slot: Slot): Promise<boolean> {
    const process = startWorkerProcess({ number: slot.number, count, isFirst: !hasBegun }, exchange)
    Object.assign(slot, { process, startedAt: performance.now(), isRetiring: false })
    void process.ended.then((reason) => replace(slot, reason))
    return process.ready
  }

  function replace(slot: Slot, reason: string | number): void {
    slot.process = undefined
    if (hasStopped || !hasBegun) return
    const { number: worker, isRetiring, startedAt } = slot
    slot.failures = isRetiring || performance.now() - startedAt > soundMs ? 0 : slot.failures + 1
    const delayMs = delayAfter(slot.failures)
    if (!isRetiring) log('error', { worker, reason, delayMs }, 'a worker has ended and is replaced')
    slot.ready = sleep(delayMs).then(() => !hasStopped && start(slot))
  }

  /** The first worker migrates and sets up the database, before the others open it. */
  async function begin([first, ...others]: Slot[]): Promise<boolean> {
    if (!first || !(await start(first))) return false
    hasBegun = true
    if (!hasStopped) for (const slot of others) slot.ready = start(slot)
    return true
  }

  /** Never more processes than `count`, by which their connections and their memory are divided. */
  async function renew(slot: Slot): Promise<boolean> {
    // While the others are starting, this one is all that answers.
    const isReady = (await hasReady(slots.filter((other) => other !== slot))) && (await exchangeProcess(slot))
    if (!isReady && !hasStopped)
      log('error', { worker: slot.number }, 'a worker did not start; the other workers were not restarted')
    return isReady
  }

  return {
    async run(stop) {
      const ended = (stop.aborted ? Promise.resolve() : once(stop, 'abort')).then(() => {
        hasStopped = true
        return Promise.all(slots.map(({ process }) => process?.end('SIGTERM')))
      })
      if (!(await begin(slots)) && !hasStopped) return 1
      await ended
      return 0
    },
    async restart() {
      if (isRestarting || !hasBegun) return
      isRestarting = true
      log('info', {}, 'restarting the workers one by one')
      for (const slot of slots) if (!(await renew(slot))) break
      isRestarting = false
    },
  }
}

const hasReady = async (slots: readonly Slot[]): Promise<boolean> =>
  (await Promise.all(slots.map(({ ready }) => ready))).some(Boolean)

/** Ends the process; whether the next one listens. */
async function exchangeProcess(slot: Slot): Promise<boolean> {
  slot.isRetiring = true
  await slot.process?.end('retire')
  return slot.ready
}

const emptySlot = (number: number): Slot => ({
  number,
  process: undefined,
  ready: Promise.resolve(true),
  startedAt: 0,
  failures: 0,
  isRetiring: false,
})
