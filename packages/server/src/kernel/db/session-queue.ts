import { createFairQueue, type FairQueue } from './fair-queue.ts'

/**
 * Readers-writer queue for the single session of the embedded database. Any number of the platform's statements share it; a
 * transaction or a tenant's query has it exclusively. The platform goes first, because every request needs it to
 * authenticate. Tenants queue fairly, so that many long queries of one delay the others by one query at most.
 * Not the admission of concurrency/, which counts places: here whose turn it is depends on the time that each tenant used.
 */
export type SessionQueue = {
  /** A statement of the platform, concurrently with others. */
  shared<T>(work: () => Promise<T>): Promise<T>
  /** A transaction of the platform. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
  /** A query of a tenant. It leaves the queue when the signal is aborted; a full queue is 429. */
  tenant<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Notes a request of a tenant, which may ask the platform before it queries. */
  noteRequest(tenant: string): void
  /** Work for when the queue is empty. */
  whenIdle(work: () => Promise<void>): void
}

/** Aging: after so long a tenant's query goes before the platform, or an upload could stop all queries. */
const patienceMs = 1_000
/**
 * A tenant that used more than `heavyMs` lately has more patience, and waits until the platform has asked nothing for
 * `quietMs`: a request of another tenant is several statements one after the other, and must not wait for a long query
 * between each two of them. A tenant alone waits for nobody: other tenants count for `presentMs` after a request.
 */
const heavyPatienceMs = 5_000
const quietMs = 250
const presentMs = 10_000

type Job = { readonly isShared: boolean; readonly tenant: string | undefined; begin(): void }

type QueueState = {
  readonly heavyMs: number
  readonly platform: Job[]
  readonly tenants: FairQueue<Job>
  readonly idle: Job[]
  /** When tenants made their last requests, the latest last. */
  readonly requestedAt: Map<string, number>
  /** How many have the session now, and whether one has it exclusively. */
  running: number
  isExclusive: boolean
  /** Since when tenants wait while none of them had the session. */
  passedOverSince: number
  platformEndedAt: number
}

export type SessionQueueOptions = { readonly maxWaiting: number; readonly heavyMs: number }

export function createSessionQueue({ maxWaiting, heavyMs }: SessionQueueOptions): SessionQueue {
  const state: QueueState = {
    heavyMs,
    platform: [],
    tenants: createFairQueue(maxWaiting),
    idle: [],
    requestedAt: new Map(),
    running: 0,
    isExclusive: false,
    passedOverSince: 0,
    platformEndedAt: 0,
  }
  let wake: NodeJS.Timeout | undefined

  function next(): void {
    clearTimeout(wake)
    for (;;) {
      const { job, waitMs } = choose(state)
      if (waitMs !== undefined) wake = setTimeout(next, waitMs)
      if (!job) return
      state.running++
      if (!job.isShared) state.isExclusive = true
      job.begin()
    }
  }

  /** Queues a job and resolves with the result of its work. */
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
      if (begunAt > 0) noteEnd(state, job, begunAt)
      next()
    }
    result.then(ended, ended)
    onLeave(job, gate.reject)
    next()
    return result
  }

  const toPlatform = (job: Job): void => void state.platform.push(job)
  return {
    shared: (work) => enqueue(toPlatform, { isShared: true, tenant: undefined }, work),
    exclusive: (work) => enqueue(toPlatform, { isShared: false, tenant: undefined }, work),
    async tenant(name, work, signal) {
      signal?.throwIfAborted()
      if (state.tenants.isEmpty) state.passedOverSince = performance.now()
      let leave = (): void => {}
      const put = (job: Job): void => state.tenants.add(name, job)
      const result = enqueue(put, { isShared: false, tenant: name }, work, (job, reject) => {
        leave = () => void (state.tenants.remove(name, job) && reject(signal?.reason))
        signal?.addEventListener('abort', leave, { once: true })
      })
      return await result.finally(() => signal?.removeEventListener('abort', leave))
    },
    noteRequest(tenant) {
      state.requestedAt.delete(tenant)
      state.requestedAt.set(tenant, performance.now())
    },
    whenIdle(work) {
      enqueue((job) => void state.idle.push(job), { isShared: false, tenant: undefined }, work).catch(() => undefined)
    },
  }
}

const noLeaving = (_job: Job, _reject: (reason: unknown) => void): void => {}

function noteEnd(state: QueueState, job: Job, begunAt: number): void {
  const now = performance.now()
  state.running--
  if (!job.isShared) state.isExclusive = false
  if (job.tenant === undefined) state.platformEndedAt = now
  else {
    state.passedOverSince = now
    state.tenants.used(job.tenant, now - begunAt)
  }
}

/** The next job; none if a running one has to end first, or a tenant has to wait a little. */
function choose(state: QueueState): { job?: Job | undefined; waitMs?: number } {
  const { platform, tenants, idle, running } = state
  if (state.isExclusive) return {}
  const { tenant, usedMs } = tenants.peek()
  const isHeavy = usedMs > state.heavyMs
  const passedOverMs = performance.now() - state.passedOverSince
  const isOverdue = !tenants.isEmpty && passedOverMs > (isHeavy ? heavyPatienceMs : patienceMs)
  const [first] = platform
  if (first && !isOverdue) return first.isShared || running === 0 ? { job: platform.shift() } : {}
  if (running > 0) return {}
  if (tenants.isEmpty) return { job: idle.shift() }
  const mustWait = isHeavy && !isOverdue && areOthersPresent(state.requestedAt, tenant)
  const waitMs = mustWait ? state.platformEndedAt + quietMs - performance.now() : 0
  return waitMs > 0 ? { waitMs } : { job: tenants.take(tenant) }
}

function areOthersPresent(requestedAt: Map<string, number>, tenant: string): boolean {
  for (const [other, at] of requestedAt) {
    if (performance.now() - at <= presentMs) break
    requestedAt.delete(other)
  }
  return requestedAt.size > (requestedAt.has(tenant) ? 1 : 0)
}
