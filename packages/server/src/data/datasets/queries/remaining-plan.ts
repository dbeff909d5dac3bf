// Runs in memory the part of a plan that an engine cannot (see query/execution/plan-split.ts).
import { setImmediate } from 'node:timers/promises'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { maxRows } from '../../../query/execution/plan-rows.ts'
import { testedAttributes } from '../../../query/execution/plan-split.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { rowReader } from '../../../query/execution/wkb-cells.ts'
import { filterPredicate } from '../../../query/filter/filter-predicate.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { CellsAnswer, QueryJob } from '../memory/memory-source-job.ts'

/**
 * Yields to the event loop after this time. Time and not rows, because one row with a large geometry costs as much as
 * thousands.
 */
const turnMs = 10

/** The most bytes of rows collected in memory. */
const maxLength = 256 * 1024 * 1024

/** Applies filter, offset and limit to rows that arrive in order. Yields the undecoded cells of `plan.columns`. */
export async function* streamRest(
  plan: Plan,
  pushed: Plan,
  batches: Batches,
  definitions: Definitions,
): AsyncGenerator<Cell[][]> {
  const holds = rowTest(plan, pushed, definitions)
  const places = plan.columns.map(({ attribute }) => pushed.columns.findIndex(({ name }) => name === attribute?.name))
  const page = createPage(plan)
  for await (const batch of batches) {
    for (let next = 0; next < batch.length; ) {
      const kept: Cell[][] = []
      next = takeTurn(batch, next, (cells) => {
        if (page.isFull() || !holds(cells) || !page.takes()) return
        kept.push(places.map((place) => cells[place] ?? null))
      })
      if (kept.length > 0) yield kept
      if (page.isFull()) return
      await setImmediate()
    }
  }
}

/** Tests rows until the time slice is used up. Returns the index of the first untested row. */
export function takeTurn(rows: readonly Cell[][], first: number, test: (cells: Cell[]) => void): number {
  const end = performance.now() + turnMs
  let next = first
  do test(rows[next++] as Cell[])
  while (next < rows.length && performance.now() < end)
  return next
}

/** Tells which matching rows are between offset and limit. */
function createPage({ offset, limit = Number.POSITIVE_INFINITY }: Plan) {
  let seen = 0
  return {
    takes: () => ++seen > offset,
    isFull: () => seen >= offset + limit,
  }
}

/** Decodes only the columns that the filter reads. */
function rowTest({ where }: Plan, pushed: Plan, definitions: Definitions): (cells: readonly Cell[]) => boolean {
  const tested = [...new Map(testedAttributes(where).map((attribute) => [attribute.name, attribute])).values()]
  if (tested.length === 0 && where.kind === 'and') return () => true
  const places = tested.map(({ name }) => pushed.columns.findIndex((column) => column.name === name))
  const read = rowReader(tested, definitions)
  const holds = filterPredicate(where)
  return (cells) => holds(read(places.map((place) => cells[place] ?? null))) === true
}

/** Collects all rows, for a thread that groups or sorts them. */
export async function collectRest(pushed: Plan, batches: Batches, definitions: Definitions): Promise<CellsAnswer> {
  const cells: Cell[][] = []
  let length = 0
  for await (const batch of batches) {
    for (const row of batch) {
      cells.push(row)
      for (const cell of row) length += cell?.length ?? 0
    }
    if (cells.length > maxRows || length > maxLength) throw tooMany()
  }
  return { kind: 'cells', cells, attributes: pushed.columns.flatMap(({ attribute }) => attribute ?? []), definitions }
}

const tooMany = (): ApiError =>
  new ApiError(
    'too_many_rows',
    `A part of this query is carried out in memory, on at most ${maxRows} rows and ${maxLength >> 20} MB. Narrow it down with a filter.`,
  )

/** Runs a job outside the event loop. */
export type RunRest = (job: QueryJob, options: SelectOptions) => Promise<{ batches: Batches }>
