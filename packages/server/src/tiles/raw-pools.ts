import { type ConnectionPool, createConnectionPool, type Place, PoolFull } from '../db/connection-pool.ts'
import { isStaleStatement } from '../db/database-error.ts'
import { placeOf } from '../db/postgres-client.ts'
import { connectRaw, type RawConnection, type RowSink } from '../db/raw-connection.ts'
import { ApiError } from '../errors.ts'
import type { TileRows } from './tile-job.ts'

type Query = Extract<TileRows, { statement: unknown }>

/** Connections to the databases that this worker was asked to query. */
export type RawPools = {
  run(query: Query, signal: AbortSignal, onRow: RowSink): Promise<void>
}

/** To each database: a tile that waits for one of them is soon served, and the other threads have as many. */
const maxEach = 4
/** A tile that waits for longer is late anyway. */
const waitMs = 30_000

/** `maxTotal` connections to all databases together: each application logs in as itself. */
export function createRawPools(maxTotal: number, connect: typeof connectRaw = connectRaw): RawPools {
  const poolOf = (share: number) =>
    createConnectionPool<RawConnection>({
      maxTotal: share,
      waitMs,
      leavesRoom: true,
      isOpen: ({ isOpen }) => isOpen,
      close: (connection) => connection.close(),
    })
  // Foreign servers answer when they like: they cannot take the connections of those who use ours.
  const own = poolOf(maxTotal)
  const foreign = poolOf(maxTotal)

  async function runOnce(query: Query, signal: AbortSignal, onRow: RowSink) {
    const { server, settings, statement } = query
    const [pool, place] = placeIn(query)
    let connection = await pool.take(place, { maxEach, signal }).catch(orBusy)
    const cancel = (): void => connection?.cancel()
    let isUsable = false
    try {
      connection ??= await connect(server, settings)
      signal.throwIfAborted()
      signal.addEventListener('abort', cancel, { once: true })
      await connection.run(statement, onRow)
      isUsable = connection.isOpen
    } finally {
      signal.removeEventListener('abort', cancel)
      if (!isUsable) connection?.close()
      pool.giveBack(place, isUsable ? connection : undefined)
    }
  }

  function placeIn({ server, settings }: Query): [ConnectionPool<RawConnection>, Place] {
    const { key, owner } = placeOf(server)
    return ['url' in server ? own : foreign, { key: `${key} ${settings}`, owner }]
  }

  return {
    async run(query, signal, onRow) {
      let hasRows = false
      const noting: RowSink = (bytes, at) => {
        hasRows = true
        onRow(bytes, at)
      }
      try {
        await runOnce(query, signal, noting)
      } catch (error) {
        // The connection was lost while nobody used it, or its statement is older than the table: once more, on a new one.
        if (hasRows || signal.aborted || !(isStaleStatement(error) || isLost(error))) throw error
        const [pool, place] = placeIn(query)
        pool.drop(place)
        await runOnce(query, signal, onRow)
      }
    },
  }
}

const isLost = (error: unknown): boolean => error instanceof ApiError && error.code === 'unavailable'

function orBusy(error: unknown): never {
  if (!(error instanceof PoolFull)) throw error
  throw new ApiError('busy', 'This application already makes as many tiles as it may. Try again in a moment.')
}
