/**
 * A connection pool for many databases with one limit over all of them. Idle connections are kept for each database and
 * given up, least recently used first, when another one needs the place. Who waits is served by how few connections
 * its owner holds, then in the order of arrival: a tenant with many slow readers cannot keep the others waiting.
 */
export type ConnectionPool<C> = {
  /** An idle connection, or nothing but the right to make one. Waits for a place; PoolFull when there is none in time. */
  take(place: Place, options: { maxEach: number; signal?: AbortSignal | undefined }): Promise<C | undefined>
  /** Without a connection when it is of no use any more. */
  giveBack(place: Place, connection: C | undefined): void
  /** Closes what is idle. */
  drop(place: Place): void
  /** Closes what is idle, and ends the pool's timer. */
  close(): void
  readonly total: number
}

/** A database, by a key that is the same only for the same login, and whose connections count together. */
export type Place = { readonly key: string; readonly owner: string }

export type ConnectionPoolOptions<C> = {
  /** Connections of all owners together, idle ones included. */
  maxTotal: number
  /** For how long one waits for a place. */
  waitMs: number
  /**
   * A quarter is kept for owners who hold none, and of the rest an owner of n connections gets another only while more
   * than n are free (a dynamic threshold, as in switches with shared buffers). So greedy owners leave room for others.
   */
  leavesRoom: boolean
  isOpen(connection: C): boolean
  close(connection: C): void
}

/** No place became free in time. */
export class PoolFull extends Error {
  override name = 'PoolFull'
  /** Connections that the owner holds. */
  readonly held: number

  constructor(held: number) {
    super('timeout exceeded when waiting for a connection')
    this.held = held
  }
}

type Idle<C> = { readonly key: string; readonly connection: C; readonly since: number }
type Waiting = { readonly owner: string; readonly maxEach: number; wake(): void }
type Wanted = { readonly owner: string; readonly maxEach: number; readonly signal: AbortSignal | undefined }

const idleMs = 30_000

export function createConnectionPool<C>(options: ConnectionPoolOptions<C>): ConnectionPool<C> {
  const { maxTotal, waitMs, leavesRoom } = options
  const reserve = Math.floor(maxTotal / 4)
  /** The least recently used one comes first. */
  let idle: Idle<C>[] = []
  const held = new Map<string, number>()
  let busy = 0
  const queue = createQueue(waitMs, isAllowed, (owner) => held.get(owner) ?? 0)
  const sweep = setInterval(() => discard(({ since }) => since < performance.now() - idleMs), idleMs / 2).unref()

  function discard(isMeant: (one: Idle<C>) => boolean): void {
    const gone = idle.filter(isMeant)
    if (gone.length === 0) return
    idle = idle.filter((one) => !gone.includes(one))
    for (const { connection } of gone) options.close(connection)
  }

  function isAllowed(owner: string, maxEach: number): boolean {
    const own = held.get(owner) ?? 0
    const free = maxTotal - busy
    return own < maxEach && free > 0 && (!leavesRoom || own === 0 || own < free - reserve)
  }

  function fill({ key, owner }: Place): C | undefined {
    discard(({ connection }) => !options.isOpen(connection))
    const found = idle.findLast((one) => one.key === key)
    if (found) idle = idle.filter((one) => one !== found)
    else if (busy + idle.length >= maxTotal) discard((one) => one === idle[0])
    held.set(owner, (held.get(owner) ?? 0) + 1)
    busy++
    return found?.connection
  }

  return {
    async take(place, { maxEach, signal }) {
      signal?.throwIfAborted()
      const { owner } = place
      if (isAllowed(owner, maxEach)) return fill(place)
      return await queue.wait({ owner, maxEach, signal }, () => fill(place))
    },
    giveBack({ key, owner }, connection) {
      const left = (held.get(owner) ?? 1) - 1
      if (left === 0) held.delete(owner)
      else held.set(owner, left)
      busy--
      if (connection !== undefined) idle.push({ key, connection, since: performance.now() })
      queue.serve()
    },
    drop: ({ key }) => discard((one) => one.key === key),
    close() {
      clearInterval(sweep)
      discard(() => true)
    },
    get total() {
      return busy + idle.length
    },
  }
}

/** Those who wait for a place. */
function createQueue(
  waitMs: number,
  isAllowed: (owner: string, maxEach: number) => boolean,
  heldBy: (owner: string) => number,
) {
  let waiting: Waiting[] = []
  return {
    /** Wakes everybody for whom there is a place now. */
    serve(): void {
      for (;;) {
        const allowed = waiting.filter(({ owner, maxEach }) => isAllowed(owner, maxEach))
        const [next] = allowed.sort((a, b) => heldBy(a.owner) - heldBy(b.owner))
        if (!next) return
        waiting = waiting.filter((one) => one !== next)
        next.wake()
      }
    },
    /** `fill` must take the place: whoever is served next counts on it. */
    wait<T>({ owner, maxEach, signal }: Wanted, fill: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        const leave = (reason: unknown): void => {
          waiting = waiting.filter((one) => one !== me)
          stop()
          reject(reason)
        }
        const onAbort = (): void => leave(signal?.reason)
        const timer = setTimeout(() => leave(new PoolFull(heldBy(owner))), waitMs)
        const stop = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', onAbort)
        }
        const wake = (): void => {
          stop()
          resolve(fill())
        }
        const me: Waiting = { owner, maxEach, wake }
        signal?.addEventListener('abort', onAbort, { once: true })
        waiting.push(me)
      })
    },
  }
}
