import { isStaleStatement } from '../db/database-error.ts'
import { connectRaw, type RowSink } from '../db/raw-connection.ts'
import { ApiError } from '../errors.ts'
import { createConnectionPlaces } from './connection-places.ts'
import type { TileRows } from './tile-job.ts'

type Query = Extract<TileRows, { statement: unknown }>

/** Connections to the databases that this worker was asked to query. */
export type RawPools = {
  run(query: Query, signal: AbortSignal, onRow: RowSink): Promise<void>
}

export function createRawPools(connect: typeof connectRaw = connectRaw): RawPools {
  const places = createConnectionPlaces()

  async function runOnce(key: string, { server, settings, statement }: Query, signal: AbortSignal, onRow: RowSink) {
    let connection = await places.take(key, signal)
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
      places.giveBack(key, isUsable ? connection : undefined)
    }
  }

  return {
    async run(query, signal, onRow) {
      const key = JSON.stringify([query.server, query.settings])
      let hasRows = false
      const noting: RowSink = (bytes, at) => {
        hasRows = true
        onRow(bytes, at)
      }
      try {
        await runOnce(key, query, signal, noting)
      } catch (error) {
        // The connection was lost while nobody used it, or its statement is older than the table: once more, on a new one.
        if (hasRows || signal.aborted || !(isStaleStatement(error) || isLost(error))) throw error
        places.drop(key)
        await runOnce(key, query, signal, onRow)
      }
    },
  }
}

const isLost = (error: unknown): boolean => error instanceof ApiError && error.code === 'unavailable'
