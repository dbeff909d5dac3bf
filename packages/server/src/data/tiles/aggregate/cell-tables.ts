// Tables of cells, cached for the tiles around them. A map that is moved asks for many tiles of the same cells, whose rows are read once.
import { createSingleFlight } from '../../../kernel/concurrency/single-flight.ts'
import { createFairLruCache } from '../cache/fair-lru-cache.ts'
import type { CellTable } from './cell-table.ts'

export type CellTables = {
  /** `key` changes with the rows. */
  get(
    owner: string,
    key: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<CellTable>,
  ): Promise<CellTable>
}

const defaultMaxBytes = 64 * 1024 * 1024
const overhead = 500

export function createCellTables(maxBytes = defaultMaxBytes): CellTables {
  const kept = createFairLruCache<CellTable>(maxBytes)
  const flights = createSingleFlight<CellTable>()
  return {
    get: async (owner, key, signal, make) =>
      kept.get(owner, key) ??
      flights.join(`${owner} ${key}`, signal, async (end) => {
        const table = await make(end)
        kept.put(owner, key, table, overhead + 2 * key.length + table.cells.byteLength)
        return table
      }),
  }
}
