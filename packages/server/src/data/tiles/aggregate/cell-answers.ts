// Answers of queries whose rows are cells.
import { queryTimeout } from '../../../kernel/db/guarded.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { cellQueryColumns } from '../../../query/plan/cell-aggregate.ts'
import { demandSystem } from '../../../query/values/unknown-system.ts'
import type { CellCounting } from '../../datasets/queries/cell-query.ts'
import type { TileWorkers } from '../workers/tile-workers.ts'
import { countCells } from './count-cells.ts'

/** Cells that a thread writes at once: some milliseconds of its time, and of the event loop's. */
const cellsAtOnce = 1_000

export function createCellCounting(workers: Pick<TileWorkers, 'collect' | 'write'>): CellCounting {
  return {
    async count({ source, applicationId, geometry, aggregate, plan }, notation, { timeoutMs, signal: leaving }) {
      demandSystem(geometry)
      const { limit = Number.POSITIVE_INFINITY, offset } = plan
      const late = AbortSignal.timeout(timeoutMs)
      const signal = leaving ? AbortSignal.any([leaving, late]) : late
      const all = { ...plan, limit: undefined, offset: 0, group: undefined }
      const counted = { source, applicationId, geometry, aggregate, plan: all }
      const table = await countCells(workers, counted, { timeoutMs, signal }).catch((error) => {
        throw late.aborted ? queryTimeout(error, timeoutMs) : error
      })
      const end = Math.min(table.count, offset + limit)
      async function* batches(): AsyncGenerator<Cell[][]> {
        for (let from = offset; from < end; from += cellsAtOnce) {
          const write = { table, values: aggregate.values, from, to: Math.min(end, from + cellsAtOnce), notation }
          yield workers.write({ write }, leaving ?? unending, { applicationId })
        }
      }
      return { columns: cellQueryColumns(aggregate), batches: batches() }
    },
  }
}

const unending = new AbortController().signal
