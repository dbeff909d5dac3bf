// Connection pools of a tile worker.
import {
  type ConnectionPool,
  createConnectionPool,
  PoolFull,
  type PoolKey,
} from '../../../kernel/db/connection-pool.ts'
import { isStaleStatement } from '../../../kernel/db/database-error.ts'
import { poolKeyOf } from '../../../kernel/db/postgres/postgres-client.ts'
import { connectRaw, type RawConnection, type RowSink } from '../../../kernel/db/postgres/raw-connection.ts'
import { createMessageMemory } from '../../../kernel/db/wire/message-framer.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import type { TileQueryRows as Query } from './tile-job.ts'

/** Connections to the databases that this worker queries. */
export type RawPools = {
  /** Answers how many milliseconds the query took, without the wait for a connection. */
  run(query: Query, signal: AbortSignal, onRow: RowSink): Promise<number>
  /** Cancels what is going on and closes all connections. */
  close(): void
}

/** Per database. A waiting tile is served soon, and the other threads have as many. */
const maxEach = 4
/** A tile that waits longer is too late to be useful. */
const waitMs = 30_000

/** `maxTotal` limits the connections to all databases together, because each application logs in with its own role. */
export function createRawPools(maxTotal: number, connect: typeof connectRaw = connectRaw): RawPools {
  const memory = createMessageMemory()
  const poolOf = (share: number) =>
    createConnectionPool<RawConnection>({
      maxTotal: share,
      waitMs,
      leavesRoom: true,
      isOpen: ({ isOpen }) => isOpen,
      close: (connection) => connection.close(),
    })
  // Separate pools, so that slow external servers cannot use up the connections to the platform's.
  const own = poolOf(maxTotal)
  const foreign = poolOf(maxTotal)

  const busy = new Set<RawConnection>()
  let isClosed = false

  async function runOnce(query: Query, signal: AbortSignal, onRow: RowSink, isFresh = () => true): Promise<number> {
    const { server, settings, statement } = query
    const [pool, place] = placeIn(query)
    const open = () => connect(server, settings, memory)
    const connection = await pool.take(place, { maxEach, signal, open, isFresh }).catch(orBusy)
    const cancel = (): void => connection.cancel()
    let isUsable = false
    try {
      signal.throwIfAborted()
      signal.addEventListener('abort', cancel, { once: true })
      busy.add(connection)
      if (isClosed) throw new Error('The connections are closed')
      const begun = performance.now()
      await connection.run(statement, onRow)
      isUsable = connection.isOpen && !isClosed
      return performance.now() - begun
    } finally {
      busy.delete(connection)
      signal.removeEventListener('abort', cancel)
      if (!isUsable) connection.close()
      pool.giveBack(place, isUsable ? connection : undefined)
    }
  }

  function placeIn({ server, settings }: Query): [ConnectionPool<RawConnection>, PoolKey] {
    const { key, owner } = poolKeyOf(server)
    return ['platform' in server ? own : foreign, { key: `${key} ${settings}`, owner }]
  }

  return {
    async run(query, signal, onRow) {
      let hasRows = false
      const noting: RowSink = (bytes, at) => {
        hasRows = true
        onRow(bytes, at)
      }
      try {
        return await runOnce(query, signal, noting)
      } catch (error) {
        // Retry once on a new connection: this one was lost while idle, or its prepared statement is older than the
        // table.
        if (hasRows || signal.aborted || !(isStaleStatement(error) || isLost(error))) throw error
        const [pool, place] = placeIn(query)
        pool.drop(place)
        return await runOnce(query, signal, onRow, () => false)
      }
    },
    close() {
      isClosed = true
      for (const connection of busy) connection.cancel()
      own.close()
      foreign.close()
    },
  }
}

const isLost = (error: unknown): boolean => error instanceof ApiError && error.code === 'unavailable'

function orBusy(error: unknown): never {
  if (!(error instanceof PoolFull)) throw error
  const detail = 'This application already makes as many tiles as it may. Try again in a moment.'
  throw overLimit('tileConnections', error.held, detail)
}
