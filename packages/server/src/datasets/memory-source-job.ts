import { ApiError } from '../errors.ts'
import type { Cell } from '../formats/cell.ts'
import type { Filter } from '../query/filter-tree.ts'
import { positionsOf } from '../query/geojson.ts'
import type { Column, Plan } from '../query/plan.ts'
import { planBatches, type RowShape } from '../query/plan-rows.ts'
import type { AttributeDto } from './attribute-dto.ts'
import { inferAttributes } from './sources/infer-attributes.ts'
import type { SourceRow } from './sources/json-rows.ts'
import { lambdaRows } from './sources/lambda.ts'
import { inspectRest, type RestAnswer, restRows } from './sources/rest.ts'

/** What a source has sent, not yet read. */
export type SourceAnswer =
  | ({ readonly type: 'rest' } & RestAnswer)
  | { readonly type: 'lambda'; readonly body: Uint8Array }

/** Plain data, so that it can go to a thread. Without a plan the question is what the rows hold. */
export type QueryJob = { readonly answer: SourceAnswer; readonly plan: Plan; readonly shape: RowShape }
export type InspectJob = { readonly answer: SourceAnswer }
export type Job = QueryJob | InspectJob

const light = { bytes: 64 * 1024, columns: 100, positions: 5 }

/** Whether it takes no longer than to hand it to a thread. */
export function isLight(job: Job): boolean {
  if (job.answer.body.length > light.bytes) return false
  if (!('plan' in job)) return true
  const { columns, where } = job.plan
  return columns.length <= light.columns && columns.every(isLightColumn) && isLightFilter(where)
}

const isLightColumn = ({ distanceTo }: Column): boolean => !distanceTo || distanceTo.type === 'Point'

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
  return withinDepth(() => (answer.type === 'rest' ? inspectRest(answer) : inferAttributes(lambdaRows(answer.body))))
}

/** The cells of the plan, batch by batch. */
export function* queryAnswer({ answer, plan, shape }: QueryJob): Generator<Cell[][]> {
  const batches = planBatches(
    plan,
    withinDepth(() => rowsOf(answer)),
    shape,
  )
  while (true) {
    const { value, done } = withinDepth(() => batches.next())
    if (done) return
    yield value
  }
}

function rowsOf(answer: SourceAnswer): SourceRow[] {
  return answer.type === 'rest' ? restRows(answer) : lambdaRows(answer.body)
}

/** Lists in lists in lists … use up the stack. */
function withinDepth<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ApiError('upstream_failed', 'The answer of the source is nested too deeply.', { cause: error })
  }
}
