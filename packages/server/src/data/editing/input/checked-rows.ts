/**
 * The rows of a body that is inserted, checked as a whole and written in batches. A body that does not fit one batch is read twice, once to
 * find all faults before anything is written and once to write, because its rows take ten to thirty times its bytes in memory.
 */
import { invalid } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { EditColumn, EditTable } from '../writing/edit-table.ts'
import type { RowsBody } from './input-rows.ts'
import {
  findInvalid,
  finish,
  keyText,
  type PreparedRow,
  type PrepareOptions,
  prepareNewRow,
  type RowPreparation,
  startPreparing,
} from './prepare-rows.ts'
import { largerOf, type NumberedRow } from './row-numbers.ts'

export type CheckedRows = {
  /** The columns that some row has. */
  readonly columns: readonly string[]
  /** The keys that are given, as texts, and where. */
  readonly keys: ReadonlyMap<string, string>
  readonly hasEveryKey: boolean
  /** The largest key that is given, where it is one whole number. */
  readonly largestKey: NumberedRow | undefined
  /** The rows in their order; from the first on each time. */
  batches(): AsyncIterable<readonly PreparedRow[]>
}

type Checking = {
  readonly connection: Pick<Connection, 'select'>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Finds what is wrong with rows to insert, up to the number of faults that is told. */
export async function checkNewRows(
  body: RowsBody,
  table: EditTable,
  options: PrepareOptions,
  checking: Checking,
): Promise<CheckedRows> {
  const preparing = startPreparing()
  const notes = createNotes(table, preparing)
  const kept: (readonly PreparedRow[])[] = []
  let invalidCount = 0
  for await (const batch of preparedBatches(body, table, options, preparing)) {
    notes.add(batch)
    // The database is asked while there are no other faults.
    const isFine = preparing.faults.size === invalidCount
    if (isFine) await findInvalid(checking.connection, preparing, checking)
    if (isFine) invalidCount = preparing.faults.size
    preparing.geometries.length = 0
    kept.push(batch)
    // The second batch shows that there are several.
    if (kept.length > 1) kept.length = 1
    checking.signal.throwIfAborted()
  }
  finish(preparing)
  const again = () => preparedBatches(body, table, options, startPreparing())
  return { ...notes.taken(), batches: () => (notes.batchCount > 1 ? again() : inOrder(kept)) }
}

async function* inOrder<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

const maxBatchRows = 1_000
/** Characters of values, which texts of geometries have many of. */
const maxBatchLength = 1_048_576
const maxBatchCells = 20_000

async function* preparedBatches(
  body: RowsBody,
  table: EditTable,
  options: PrepareOptions,
  preparing: RowPreparation,
): AsyncGenerator<readonly PreparedRow[]> {
  const most = limits.writtenRows.value
  let batch: PreparedRow[] = []
  let [rows, cells, length] = [0, 0, 0]
  for await (const input of body.rows()) {
    if (++rows > most)
      throw overLimit('writtenRows', most, `A request may insert at most ${most} rows. Send several, or upload a file.`)
    const row = prepareNewRow(input, table, options, preparing)
    batch.push(row)
    cells += row.cells.size
    for (const text of row.cells.values()) length += text?.length ?? 0
    if (batch.length < maxBatchRows && cells < maxBatchCells && length < maxBatchLength) continue
    yield batch
    batch = []
    cells = 0
    length = 0
  }
  if (batch.length > 0) yield batch
}

const maxGroups = 50

/** What has to be known of all rows before the first is written. */
function createNotes(table: EditTable, { faults }: RowPreparation) {
  const keys = new Map<string, string>()
  const sets = new Map<string, readonly string[]>()
  let hasEveryKey = true
  let largest: NumberedRow | undefined
  let batchCount = 0

  function noteKey(row: PreparedRow): void {
    const key = keyText(row, table)
    if (key === undefined) {
      hasEveryKey = false
      return
    }
    const earlier = keys.get(key)
    if (earlier === undefined) keys.set(key, row.path)
    else faults.add({ path: row.path, code: 'duplicate', message: `has the same key as ${earlier}` })
    largest = largerOf(largest, row, table)
  }

  return {
    add(batch: readonly PreparedRow[]): void {
      batchCount++
      for (const row of batch) {
        noteKey(row)
        sets.set(columnSet(row), namesOf(row.cells))
        if (sets.size > maxGroups) throw tooManySets()
      }
    },
    get batchCount() {
      return batchCount
    },
    taken: () => ({ columns: [...new Set([...sets.values()].flat())], keys, hasEveryKey, largestKey: largest }),
  }
}

const namesOf = (cells: ReadonlyMap<EditColumn, unknown>): string[] => [...cells.keys()].map(({ name }) => name)

/** Equal for rows that have the same columns. */
export const columnSet = ({ cells }: PreparedRow): string =>
  namesOf(cells)
    .map((name) => JSON.stringify(name))
    .sort()
    .join()

const tooManySets = (): Error =>
  invalid('body', `must not have more than ${maxGroups} different sets of columns: send such rows in several requests`)
