import type pg from 'pg'
import { type ConnectionPool, createConnectionPool, PoolFull } from '../connection-pool.ts'
import { isConnectionFailure, isExternalServerFault, isRoleFull, unavailable } from '../database-error.ts'
import { connectClient, hangUp, type PostgresServer, poolKeyOf, prepareSession } from './postgres-client.ts'

/** A pooled connection in use. Giving it back twice does nothing; a broken one is closed, not reused. */
export type ClientLease = { readonly client: pg.Client; giveBack(broken: boolean): void }

export type LeasePool = {
  /**
   * Leases a connection and does the first thing on it. A connection found dead is replaced by a fresh one, once, when
   * `repeatable` says that doing the first thing twice is harmless. On failure the lease is given back.
   */
  lease<T>(
    repeatable: boolean,
    first: (lease: ClientLease) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<{ lease: ClientLease; value: T }>
  close(): Promise<void>
}

/** Connections that several pools share, each by its own key. */
export type SharedConnections = ConnectionPool<PooledClient>

export type PoolOptions = PostgresServer & {
  poolSize: number
  onError(error: unknown): void
  /** Without it the pool has `poolSize` connections to itself. */
  shared?: SharedConnections
  /** Statements that each session begins with, besides the usual ones. */
  settings?: string
  /** The error when all are in use; by default that the database cannot be reached. */
  whenFull?(full: PoolFull): Error
}

type PooledClient = { readonly client: pg.Client; readonly madeAt: number; isOpen: boolean; isLeased: boolean }

/** Of all connections of tenants, or of the platform's own. */
export const createSharedConnections = (maxTotal: number, { leavesRoom }: { leavesRoom: boolean }): SharedConnections =>
  createConnectionPool({
    maxTotal,
    waitMs,
    leavesRoom,
    isOpen: ({ isOpen }) => isOpen,
    close: ({ client }) => hangUp(client, false),
  })

/** Time-out for a connection. */
const waitMs = 3_000
/** How long a closing pool waits for running statements. */
const closeMs = 10_000

export function createLeasePool({ poolSize, onError, shared, settings, whenFull, ...server }: PoolOptions): LeasePool {
  const connections = shared ?? createSharedConnections(poolSize, { leavesRoom: false })
  const poolKey = poolKeyOf(server)
  const busy = new Set<ClientLease>()
  // Connections older than the last one found dead are probably as dead as that one: a restart ends all of them.
  let suspectBefore = 0
  let closing: PromiseWithResolvers<void> | undefined

  function leaseOf(pooled: PooledClient): ClientLease {
    pooled.isLeased = true
    let isGiven = false
    const lease: ClientLease = {
      client: pooled.client,
      giveBack(broken) {
        if (isGiven) return
        isGiven = true
        pooled.isLeased = false
        const isUsable = !broken && pooled.isOpen && !closing
        if (!isUsable) hangUp(pooled.client, broken)
        connections.giveBack(poolKey, isUsable ? pooled : undefined)
        busy.delete(lease)
        if (busy.size === 0) closing?.resolve()
      },
    }
    busy.add(lease)
    return lease
  }

  function publicOf(error: unknown): unknown {
    if (error instanceof PoolFull) return whenFull?.(error) ?? unavailable(error)
    return isConnectionFailure(error) ? unavailable(error) : error
  }

  async function checkOut(signal: AbortSignal | undefined): Promise<ClientLease> {
    if (closing) throw unavailable(new Error('The pool is closed'))
    const open = () => openClient(server, settings, onError)
    const isFresh = ({ madeAt }: PooledClient) => madeAt >= suspectBefore
    try {
      return leaseOf(await connections.take(poolKey, { maxEach: poolSize, signal, open, isFresh }))
    } catch (error) {
      throw publicOf(isRoleFull(error) ? new PoolFull(busy.size, busy.size) : error)
    }
  }

  return {
    async lease(repeatable, first, signal) {
      for (let attempt = 1; ; attempt++) {
        const lease = await checkOut(signal)
        try {
          return { lease, value: await first(lease) }
        } catch (error) {
          const isLost = isConnectionFailure(error)
          lease.giveBack(isLost || isExternalServerFault(error))
          if (!isLost) throw error
          suspectBefore = performance.now()
          if (attempt > 1 || !repeatable) throw unavailable(error)
        }
      }
    },
    async close() {
      closing ??= Promise.withResolvers()
      connections.drop(poolKey)
      if (!shared) connections.close()
      if (busy.size === 0) closing.resolve()
      const timer = setTimeout(() => {
        for (const lease of busy) lease.giveBack(true)
      }, closeMs)
      await closing.promise
      clearTimeout(timer)
    },
  }
}

async function openClient(
  server: PostgresServer,
  settings: string | undefined,
  onError: (error: unknown) => void,
): Promise<PooledClient> {
  const client = await connectClient(server, 'graticule', (connected) => prepareSession(connected, settings))
  const pooled = { client, madeAt: performance.now(), isOpen: true, isLeased: true }
  client.on('end', () => {
    pooled.isOpen = false
  })
  // The running statement fails with the same error.
  client.on('error', (error) => {
    pooled.isOpen = false
    if (!pooled.isLeased) onError(error)
  })
  return pooled
}
