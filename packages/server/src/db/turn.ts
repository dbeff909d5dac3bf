import { createFairQueue, type FairQueue } from './fair-queue.ts'

/**
 * The queue for a single session. Any number of the platform's statements may share it; a transaction, or a tenant's query,
 * has it alone. The platform goes first, because every request needs it to know who asks. Tenants queue fairly, so that
 * many long queries of one delay the others by one query at most.
 */
export type Turn = {
  /** One of the platform's statements, beside others of its kind. */
  shared<T>(work: () => Promise<T>): Promise<T>
  /** One of the platform's transactions. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
  /** A query of a tenant. It leaves the queue when the signal is aborted; one too many in the queue is 429. */
  tenant<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Work that waits until nobody else does. */
  whenIdle(work: () => Promise<void>): void
}

/** After so much time of the platform's in a row a tenant's query goes first: an upload must not stop all queries. */
const patienceMs = 1_000
/**
 * A tenant that used more than this lately has more patience, and waits until the platform has asked nothing for `quietMs`:
 * a request of another tenant is several statements one after the other, and must not wait for a long query between each
 * two of them.
 */
const heavyMs = 2_000
const heavyPatienceMs = 5_000
const quietMs = 250

type Job = { readonly isShared: boolean; readonly tenant: string | undefined; begin(): void }

type Line = {
  readonly platform: Job[]
  readonly tenants: FairQueue<Job>
  readonly idle: Job[]
  /** How many have the session now, and whether one has it alone. */
  running: number
  isTaken: boolean
  /** Since when tenants wait without one of them having had the session. */
  passedOverSince: number
  platformEndedAt: number
}

export function createTurn({ maxWaiting }: { maxWaiting: number }): Turn {
  const line: Line = {
    platform: [],
    tenants: createFairQueue(maxWaiting),
    idle: [],
    running: 0,
    isTaken: false,
    passedOverSince: 0,
    platformEndedAt: 0,
  }
  let wake: NodeJS.Timeout | undefined

  function next(): void {
    clearTimeout(wake)
    for (;;) {
      const { job, waitMs } = choose(line)
      if (waitMs !== undefined) wake = setTimeout(next, waitMs)
      if (!job) return
      line.running++
      if (!job.isShared) line.isTaken = true
      job.begin()
    }
  }

  /** Puts a job into a queue, and answers what its work does when its turn has come. */
  function enqueue<T>(put: (job: Job) => void, kind: Omit<Job, 'begin'>, work: () => Promise<T>, onLeave = noLeaving) {
    const gate = Promise.withResolvers<void>()
    const job: Job = { ...kind, begin: gate.resolve }
    put(job)
    let begunAt = 0
    // A continuation of the caller's own, so that it keeps the caller's asynchronous context.
    const result = gate.promise.then(() => {
      begunAt = performance.now()
      return work()
    })
    const ended = (): void => {
      if (begunAt > 0) noteEnd(line, job, begunAt)
      next()
    }
    result.then(ended, ended)
    onLeave(job, gate.reject)
    next()
    return result
  }

  const toPlatform = (job: Job): void => void line.platform.push(job)
  return {
    shared: (work) => enqueue(toPlatform, { isShared: true, tenant: undefined }, work),
    exclusive: (work) => enqueue(toPlatform, { isShared: false, tenant: undefined }, work),
    async tenant(name, work, signal) {
      signal?.throwIfAborted()
      if (line.tenants.isEmpty) line.passedOverSince = performance.now()
      let leave = (): void => {}
      const put = (job: Job): void => line.tenants.add(name, job)
      const result = enqueue(put, { isShared: false, tenant: name }, work, (job, reject) => {
        leave = () => void (line.tenants.remove(name, job) && reject(signal?.reason))
        signal?.addEventListener('abort', leave, { once: true })
      })
      return await result.finally(() => signal?.removeEventListener('abort', leave))
    },
    whenIdle(work) {
      enqueue((job) => void line.idle.push(job), { isShared: false, tenant: undefined }, work).catch(() => undefined)
    },
  }
}

const noLeaving = (_job: Job, _reject: (reason: unknown) => void): void => {}

function noteEnd(line: Line, job: Job, begunAt: number): void {
  const now = performance.now()
  line.running--
  if (!job.isShared) line.isTaken = false
  if (job.tenant === undefined) line.platformEndedAt = now
  else {
    line.passedOverSince = now
    line.tenants.used(job.tenant, now - begunAt)
  }
}

/** Who goes now; nobody, if somebody has to end first, or if a tenant has to wait a little. */
function choose(line: Line): { job?: Job | undefined; waitMs?: number } {
  const { platform, tenants, idle, running } = line
  if (line.isTaken) return {}
  const { tenant, usedMs } = tenants.peek()
  const isHeavy = usedMs > heavyMs
  const passedOverMs = performance.now() - line.passedOverSince
  const isOverdue = !tenants.isEmpty && passedOverMs > (isHeavy ? heavyPatienceMs : patienceMs)
  const [first] = platform
  if (first && !isOverdue) return first.isShared || running === 0 ? { job: platform.shift() } : {}
  if (running > 0) return {}
  if (tenants.isEmpty) return { job: idle.shift() }
  const waitMs = isHeavy && !isOverdue ? line.platformEndedAt + quietMs - performance.now() : 0
  return waitMs > 0 ? { waitMs } : { job: tenants.take(tenant) }
}
