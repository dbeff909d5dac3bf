// The job that a memory source's thread runs: parse an answer and run a plan on its rows.
import { ApiError } from '../../../kernel/errors.ts'
import { planBatches, type RowNotation } from '../../../query/execution/plan-rows.ts'
import { rowReader } from '../../../query/execution/wkb-cells.ts'
import type { ValueRow } from '../../../query/filter/expression-value.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { positionsOf } from '../../../query/geometry/geojson.ts'
import type { Plan, PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { AttributeDto } from '../attribute-dto.ts'
import { maskedRows } from '../rules/masked-rows.ts'
import type { RowMask } from '../rules/row-mask.ts'
import { inferAttributes } from '../types/infer-attributes.ts'
import { lambdaRows } from '../types/lambda-answer.ts'
import { inspectRest, type RestAnswer, restRows } from '../types/rest-answer.ts'

/** The unparsed answer of a source. */
export type SourceAnswer =
  | ({ readonly kind: 'document' } & RestAnswer)
  | { readonly kind: 'function'; readonly body: Uint8Array }
  | CellsAnswer

/** Rows of an engine that ran a part of the plan. */
export type CellsAnswer = {
  readonly kind: 'cells'
  readonly cells: readonly Cell[][]
  readonly attributes: readonly Attribute[]
  readonly definitions: Definitions
}

/** Plain data, so that it can be posted to a thread. Without a plan, the job infers the attributes. */
export type QueryJob = {
  readonly answer: SourceAnswer
  readonly plan: Plan
  readonly shape: RowNotation
  readonly mask?: RowMask
}
export type InspectJob = { readonly answer: SourceAnswer }
export type MemoryJob = QueryJob | InspectJob

const light = { bytes: 64 * 1024, rows: 500, columns: 100, positions: 5 }

/** Whether running the job takes no longer than posting it to a thread. */
export function isLight(job: MemoryJob): boolean {
  const { answer } = job
  if (answer.kind === 'cells' ? !areLight(answer.cells) : answer.body.length > light.bytes) return false
  if (!('plan' in job)) return true
  const { columns, where } = job.plan
  const filters = [where, ...(job.mask ? [job.mask.rows, ...job.mask.cells.map(([, filter]) => filter)] : [])]
  return columns.length <= light.columns && columns.every(isLightColumn) && filters.every(isLightFilter)
}

/** Measures length too, because a few rows with large geometries take as long as many rows. */
function areLight(cells: CellsAnswer['cells']): boolean {
  if (cells.length > light.rows) return false
  let length = 0
  for (const row of cells) for (const cell of row) length += cell?.length ?? 0
  return length <= light.bytes
}

const isLightColumn = ({ distanceTo }: PlanColumn): boolean => !distanceTo || distanceTo.type === 'Point'

function isLightFilter(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.every(isLightFilter)
    case 'not':
      return isLightFilter(filter.filter)
    case 'intersects':
    case 'within':
      return positionsOf(filter.geometry).length <= light.positions
    case 'dwithin':
      return filter.geometry.type === 'Point'
    default:
      return true
  }
}

export function inspectAnswer({ answer }: InspectJob): AttributeDto[] {
  return withinDepth(() => (answer.kind === 'document' ? inspectRest(answer) : inferAttributes([...rowsOf(answer)])))
}

/** Runs the plan and yields its cells in batches. */
export function* queryAnswer({ answer, plan, shape, mask }: QueryJob): Generator<Cell[][]> {
  const batches = planBatches(
    plan,
    withinDepth(() => (mask ? maskedRows(rowsOf(answer), mask) : rowsOf(answer))),
    shape,
  )
  while (true) {
    const { value, done } = withinDepth(() => batches.next())
    if (done) return
    yield value
  }
}

function rowsOf(answer: SourceAnswer): readonly ValueRow[] {
  if (answer.kind === 'cells') return answer.cells.map(rowReader(answer.attributes, answer.definitions))
  return answer.kind === 'document' ? restRows(answer) : lambdaRows(answer.body)
}

/** Deeply nested lists overflow the stack; that is the source's fault, not ours. */
function withinDepth<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ApiError('upstream_failed', 'The answer of the source is nested too deeply.', { cause: error })
  }
}
