import { createAdmission } from '../concurrency/admission.ts'

/**
 * A connection pool for many databases with one limit over all of them. Idle connections are kept for each database and
 * given up, least recently used first, when another one needs the slot. Waiting callers are
 * served by how few connections their owner holds, then in order of arrival, so that a tenant with many slow readers does
 * not block the others.
 */
export type ConnectionPool<C> = {
  /** An idle connection, or whichever is first: a new one, or one that is given back. Throws PoolFull when there is no slot in time. */
  take(poolKey: PoolKey, options: TakeOptions<C>): Promise<C>
  /** Gives a slot back; without a connection if that is broken. */
  giveBack(poolKey: PoolKey, connection: C | undefined): void
  /** Closes what is idle. */
  drop(poolKey: PoolKey): void
  /** Closes what is idle, and ends the pool's timer. */
  close(): void
  readonly total: number
}

/** A database, by a key that is the same only for the same login, and whose connections count together. */
export type PoolKey = { readonly key: string; readonly owner: string }

type TakeOptions<C> = {
  readonly maxEach: number
  readonly signal?: AbortSignal | undefined
  open(): Promise<C>
  /** Others are closed. */
  isFresh(connection: C): boolean
}

export type ConnectionPoolOptions<C> = {
  /** Connections of all owners together, idle ones included. */
  maxTotal: number
  /** Time-out for a slot. */
  waitMs: number
  /** Greedy owners leave room for others; see kernel/concurrency/admission.ts. */
  leavesRoom: boolean
  isOpen(connection: C): boolean
  close(connection: C): void
}

/** No slot became free in time. */
export class PoolFull extends Error {
  override name = 'PoolFull'
  /** Connections that the owner holds. */
  readonly held: number
  /** Those that there are for all. */
  readonly total: number

  constructor(held: number, total: number) {
    super('timeout exceeded when waiting for a connection')
    this.held = held
    this.total = total
  }
}

type Idle<C> = { readonly key: string; readonly connection: C; readonly since: number }

const idleMs = 30_000

export function createConnectionPool<C>(options: ConnectionPoolOptions<C>): ConnectionPool<C> {
  const { maxTotal, waitMs, leavesRoom } = options
  /** The least recently used one comes first. */
  let idle: Idle<C>[] = []
  let isClosed = false
  const arrivals = createArrivals<C>((key, connection) => {
    if (isClosed || admission.taken + idle.length >= maxTotal) options.close(connection)
    else keep(key, connection)
  })
  const admission = createAdmission({
    total: maxTotal,
    leavesRoom,
    waitMs,
    refuse: (held) => new PoolFull(held, maxTotal),
  })
  const sweep = setInterval(() => discard(({ since }) => since < performance.now() - idleMs), idleMs / 2).unref()

  function discard(isMeant: (one: Idle<C>) => boolean): void {
    const gone = idle.filter(isMeant)
    if (gone.length === 0) return
    idle = idle.filter((one) => !gone.includes(one))
    for (const { connection } of gone) options.close(connection)
  }

  function fill({ key }: PoolKey, isFresh: TakeOptions<C>['isFresh']): C | undefined {
    discard((one) => !options.isOpen(one.connection) || (one.key === key && !isFresh(one.connection)))
    const entry = idle.findLast((one) => one.key === key)
    if (entry) idle = idle.filter((one) => one !== entry)
    else if (admission.taken + idle.length > maxTotal) discard((one) => one === idle[0])
    return entry?.connection
  }

  function keep(key: string, connection: C): void {
    idle.push({ key, connection, since: performance.now() })
  }

  return {
    async take(poolKey, takeOptions) {
      const waiting = admission.enter(poolKey.owner, { signal: takeOptions.signal, atMost: takeOptions.maxEach })
      if (waiting) await waiting
      const connection = fill(poolKey, takeOptions.isFresh)
      if (connection !== undefined) return connection
      return await arrivals.next(poolKey, takeOptions).catch((error) => {
        admission.leave(poolKey.owner)
        throw error
      })
    },
    giveBack({ key, owner }, connection) {
      if (connection !== undefined && !arrivals.serve(key, connection)) keep(key, connection)
      admission.leave(owner)
    },
    drop: ({ key }) => discard((one) => one.key === key),
    close() {
      isClosed = true
      clearInterval(sweep)
      discard(() => true)
    },
    get total() {
      return admission.taken + idle.length
    },
  }
}

/** Has a slot, and no connection yet. */
type Waiter<C> = PromiseWithResolvers<C> & Pick<TakeOptions<C>, 'open' | 'isFresh'> & { readonly since: number }

/**
 * Of one database. At least as many connections are being opened as are waited for; more, where one that was given back came first, and
 * those are for who comes next.
 */
type Opening<C> = { readonly waiters: Waiter<C>[]; count: number }

/**
 * Whoever has a slot gets a new connection or one that is given back, whichever is there first: on a busy machine a new one takes longer
 * than others need theirs. What is opened and wanted by nobody any more is spare.
 */
function createArrivals<C>(onSpare: (key: string, connection: C) => void) {
  const openings = new Map<string, Opening<C>>()

  async function open(key: string, opening: Opening<C>, openOne: () => Promise<C>): Promise<void> {
    const begunAt = performance.now()
    opening.count++
    try {
      const connection = await openOne()
      const waiter = opening.waiters.shift()
      if (waiter) waiter.resolve(connection)
      else onSpare(key, connection)
    } catch (error) {
      const [waiter] = opening.waiters
      if (!waiter || opening.count > opening.waiters.length) return
      // What failed was not begun for who came later.
      if (waiter.since > begunAt) void open(key, opening, waiter.open)
      else opening.waiters.shift()?.reject(error)
    } finally {
      opening.count--
      if (opening.count === 0) openings.delete(key)
    }
  }

  return {
    next({ key }: PoolKey, { open: openOne, isFresh }: TakeOptions<C>): Promise<C> {
      const opening = openings.get(key) ?? { waiters: [], count: 0 }
      openings.set(key, opening)
      const waiter = { ...Promise.withResolvers<C>(), open: openOne, isFresh, since: performance.now() }
      opening.waiters.push(waiter)
      if (opening.count < opening.waiters.length) void open(key, opening, openOne)
      return waiter.promise
    },
    /** False if nobody waits for it. */
    serve(key: string, connection: C): boolean {
      const waiters = openings.get(key)?.waiters
      if (!waiters?.[0]?.isFresh(connection)) return false
      waiters.shift()?.resolve(connection)
      return true
    },
  }
}
