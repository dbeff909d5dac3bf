import { createAdmission } from '../concurrency/admission.ts'

/**
 * A connection pool for many databases with one limit over all of them. Idle connections are kept for each database and
 * given up, least recently used first, when another one needs the place. Waiting callers are
 * served by how few connections their owner holds, then in order of arrival, so that a tenant with many slow readers does
 * not block the others.
 */
export type ConnectionPool<C> = {
  /** An idle connection, or the permission to open one. Waits for a place; throws PoolFull when there is none in time. */
  take(poolKey: PoolKey, options: { maxEach: number; signal?: AbortSignal | undefined }): Promise<C | undefined>
  /** Gives a place back; without a connection if that is broken. */
  giveBack(poolKey: PoolKey, connection: C | undefined): void
  /** Closes what is idle. */
  drop(poolKey: PoolKey): void
  /** Closes what is idle, and ends the pool's timer. */
  close(): void
  readonly total: number
}

/** A database, by a key that is the same only for the same login, and whose connections count together. */
export type PoolKey = { readonly key: string; readonly owner: string }

export type ConnectionPoolOptions<C> = {
  /** Connections of all owners together, idle ones included. */
  maxTotal: number
  /** Time-out for a place. */
  waitMs: number
  /** Greedy owners leave room for others; see kernel/concurrency/admission.ts. */
  leavesRoom: boolean
  isOpen(connection: C): boolean
  close(connection: C): void
}

/** No place became free in time. */
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

  function fill({ key }: PoolKey): C | undefined {
    discard(({ connection }) => !options.isOpen(connection))
    const entry = idle.findLast((one) => one.key === key)
    if (entry) idle = idle.filter((one) => one !== entry)
    else if (admission.taken + idle.length > maxTotal) discard((one) => one === idle[0])
    return entry?.connection
  }

  return {
    async take(poolKey, { maxEach, signal }) {
      const waiting = admission.enter(poolKey.owner, { signal, atMost: maxEach })
      if (waiting) await waiting
      return fill(poolKey)
    },
    giveBack({ key, owner }, connection) {
      if (connection !== undefined) idle.push({ key, connection, since: performance.now() })
      admission.leave(owner)
    },
    drop: ({ key }) => discard((one) => one.key === key),
    close() {
      clearInterval(sweep)
      discard(() => true)
    },
    get total() {
      return admission.taken + idle.length
    },
  }
}
