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
  tenant<T>(name: string, work: () => Promise<T>, options?: TenantOptions): Promise<T>
  /** One of many pieces of long work of the platform, such as loading a file: it gives way to all others, for a moment. */
  piece<T>(work: () => Promise<T>): Promise<T>
  /** Notes a request of a tenant, which may ask the platform before it queries. */
  noteRequest(tenant: string): void
  /** Work for when the queue is empty. */
  whenIdle(work: () => Promise<void>): void
}

export type TenantOptions = {
  readonly signal?: AbortSignal | undefined
  /** It reads few rows, and goes before the long queries of the same tenant. */
  readonly isShort?: boolean
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

/**
 * A piece waits until the platform has asked nothing for `breathMs`, as a request is several statements one after the other, and for
 * `piecePatienceMs` at most: so long a piece and its patience together may keep a reader waiting.
 */
const breathMs = 5
const piecePatienceMs = 50

type JobKind = { readonly isShared: boolean; readonly tenant: string | undefined; readonly isPiece?: boolean }
type Job = JobKind & { readonly since: number; begin(): void }

type QueueState = {
  readonly heavyMs: number
  readonly platform: Job[]
  readonly tenants: FairQueue<Job>
  readonly pieces: Job[]
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
  const state = idleQueue(heavyMs, maxWaiting)
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
  function enqueue<T>(put: (job: Job) => void, kind: JobKind, work: () => Promise<T>, onLeave = noLeaving) {
    const gate = Promise.withResolvers<void>()
    const job: Job = { ...kind, since: performance.now(), begin: gate.resolve }
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
    async tenant(name, work, { signal, isShort } = {}) {
      signal?.throwIfAborted()
      if (state.tenants.isEmpty) state.passedOverSince = performance.now()
      let leave = (): void => {}
      const put = (job: Job): void => state.tenants.add(name, job, isShort)
      const result = enqueue(put, { isShared: false, tenant: name }, work, (job, reject) => {
        leave = () => void (state.tenants.remove(name, job) && reject(signal?.reason))
        signal?.addEventListener('abort', leave, { once: true })
      })
      return await result.finally(() => signal?.removeEventListener('abort', leave))
    },
    piece: (work) =>
      enqueue((job) => void state.pieces.push(job), { isShared: false, tenant: undefined, isPiece: true }, work),
    noteRequest(tenant) {
      state.requestedAt.delete(tenant)
      state.requestedAt.set(tenant, performance.now())
    },
    whenIdle(work) {
      enqueue((job) => void state.idle.push(job), { isShared: false, tenant: undefined }, work).catch(() => undefined)
    },
  }
}

const idleQueue = (heavyMs: number, maxWaiting: number): QueueState => ({
  heavyMs,
  platform: [],
  tenants: createFairQueue(maxWaiting),
  pieces: [],
  idle: [],
  requestedAt: new Map(),
  running: 0,
  isExclusive: false,
  passedOverSince: 0,
  platformEndedAt: 0,
})

const noLeaving = (_job: Job, _reject: (reason: unknown) => void): void => {}

function noteEnd(state: QueueState, job: Job, begunAt: number): void {
  const now = performance.now()
  state.running--
  if (!job.isShared) state.isExclusive = false
  if (job.isPiece) return
  if (job.tenant === undefined) state.platformEndedAt = now
  else {
    state.passedOverSince = now
    state.tenants.used(job.tenant, now - begunAt)
  }
}

type Choice = { readonly job?: Job | undefined; readonly waitMs?: number }

/** The next job; none if a running one has to end first, or somebody has to wait a little. */
function choose(state: QueueState): Choice {
  const { platform, pieces, idle, running } = state
  if (state.isExclusive) return {}
  const [piece] = pieces
  if (piece && performance.now() - piece.since > piecePatienceMs) return running === 0 ? { job: pieces.shift() } : {}
  const [first] = platform
  const tenant = chooseTenant(state, first !== undefined)
  if (first && !tenant.isOverdue) return first.isShared || running === 0 ? { job: platform.shift() } : {}
  if (running > 0) return {}
  if (tenant.choice.job) return tenant.choice
  if (piece) return choosePiece(state, tenant.choice)
  return tenant.choice.waitMs === undefined ? { job: idle.shift() } : tenant.choice
}

/** A tenant's query, if nobody of the platform waits or it is overdue; or how long the next one waits. */
function chooseTenant(state: QueueState, isPlatformWaiting: boolean): { isOverdue: boolean; choice: Choice } {
  const { tenants, running } = state
  if (tenants.isEmpty) return { isOverdue: false, choice: {} }
  const { tenant, usedMs } = tenants.peek()
  const isHeavy = usedMs > state.heavyMs
  const isOverdue = performance.now() - state.passedOverSince > (isHeavy ? heavyPatienceMs : patienceMs)
  if (running > 0 || (isPlatformWaiting && !isOverdue)) return { isOverdue, choice: {} }
  const mustWait = isHeavy && !isOverdue && areOthersPresent(state.requestedAt, tenant)
  const waitMs = mustWait ? state.platformEndedAt + quietMs - performance.now() : 0
  return { isOverdue, choice: waitMs > 0 ? { waitMs } : { job: tenants.take(tenant) } }
}

function choosePiece({ pieces, platformEndedAt }: QueueState, { waitMs = Number.POSITIVE_INFINITY }: Choice): Choice {
  const breath = platformEndedAt + breathMs - performance.now()
  return breath > 0 ? { waitMs: Math.min(breath, waitMs) } : { job: pieces.shift() }
}

function areOthersPresent(requestedAt: Map<string, number>, tenant: string): boolean {
  for (const [other, at] of requestedAt) {
    if (performance.now() - at <= presentMs) break
    requestedAt.delete(other)
  }
  return requestedAt.size > (requestedAt.has(tenant) ? 1 : 0)
}
