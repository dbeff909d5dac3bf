// Nearest-neighbour queries on an engine that compares boxes and measures no distances. Boxes around the place grow until they
// hold enough rows; these are read and measured here, and the wanted ones are no further than the furthest of them.
import { setImmediate } from 'node:timers/promises'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { joinSql, sql } from '../../../kernel/db/sql.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Dialect } from '../../../query/execution/dialect.ts'
import { createNearestKeeper, type NearestKeeper } from '../../../query/execution/keep-nearest.ts'
import { mostNearest, roundingMetres } from '../../../query/execution/nearest-reach.ts'
import { planSql, type Relation } from '../../../query/execution/plan-sql.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { allOf, type Filter } from '../../../query/filter/filter-tree.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { CellsAnswer } from '../memory/memory-source-job.ts'
import { takeTurn } from './remaining-plan.ts'

type NearestQuery = {
  readonly connection: Connection
  readonly relation: Relation
  readonly dialect: Dialect
  /** What the engine does: its filter is the whole one. */
  readonly pushed: Plan
  /** What is left. */
  readonly plan: Plan
}

const firstMetres = 25
const growth = 4
/** Counted by one statement: more would read row groups that are far from a place in a town. */
const atOnce = 4
/** Beyond it all rows are read: a box would hold half of the earth. */
const mostMetres = 5_000_000
/** More rows than this in the smallest box that has enough of them: a narrower one is looked for, so often at most. */
const comfortable = 10_000
const refinements = 2
/** A box holds more than the circle in it, and counts rows that only memory can test. */
const spare = 2

/** Undefined for a plan that has to measure all rows. */
export function createNearestSearch(
  query: NearestQuery,
): ((options: SelectOptions) => Promise<CellsAnswer>) | undefined {
  const { pushed, plan, dialect } = query
  const { order, limit, offset, group, distinct, sample } = plan
  const { attribute, distanceTo: geometry } = order[0]?.by ?? {}
  if (!attribute || !geometry || limit === undefined || limit + offset > mostNearest) return undefined
  if (limit === 0 || group || distinct.length > 0 || sample || pushed.sample) return undefined
  const within = (distanceMetres: number): Filter =>
    Number.isFinite(distanceMetres)
      ? allOf([pushed.where, { kind: 'dwithin', attribute, geometry, distanceMetres }])
      : pushed.where
  const search = { ...query, within, wanted: limit + offset }
  const attributes = pushed.columns.flatMap((column) => column.attribute ?? [])
  const { definitions = {} } = dialect
  return async (options) => {
    const left = remaining(options)
    let metres = await firstReach(search, left)
    for (;;) {
      const keeper = createNearestKeeper(plan, attributes, definitions)
      await keepAll(await rowsWithin(search, metres, left()), keeper)
      const cells = keeper.kept()
      const { reach = Number.POSITIVE_INFINITY } = keeper
      const isSure = !Number.isFinite(metres) || reach + roundingMetres <= metres
      if (isSure) return { kind: 'cells', cells, attributes, definitions }
      metres = nextReach(metres, reach)
    }
  }
}

type Search = NearestQuery & { readonly wanted: number; within(metres: number): Filter }
/** The options of the next statement. */
type Left = () => SelectOptions

/** The distance from which to begin, within which there are probably enough rows. */
async function firstReach(search: Search, left: Left): Promise<number> {
  for (let metres = firstMetres; metres < mostMetres; metres *= growth ** atOnce) {
    const distances = Array.from({ length: atOnce }, (_, step) => metres * growth ** step)
    const enough = await enoughIn(search, distances, left)
    if (enough) return narrowed(search, enough, left)
  }
  return Number.POSITIVE_INFINITY
}

async function narrowed(search: Search, first: Reach, left: Left): Promise<number> {
  let reach = first
  for (let turn = 0; turn < refinements && reach.rows > Math.max(comfortable, 4 * search.wanted); turn++) {
    const { metres, tooNear } = reach
    const step = (metres - tooNear) / (atOnce + 1)
    const distances = Array.from({ length: atOnce }, (_, index) => tooNear + (index + 1) * step)
    const nearer = await enoughIn(search, distances, left)
    reach = nearer
      ? { ...nearer, tooNear: Math.max(tooNear, nearer.tooNear) }
      : { ...reach, tooNear: distances.at(-1) ?? tooNear }
  }
  return reach.metres
}

/** The first of the distances with enough rows within it. */
async function enoughIn(search: Search, distances: readonly number[], left: Left): Promise<Reach | undefined> {
  const counts = await countWithin(search, distances, left())
  const index = counts.findIndex((count) => count >= spare * search.wanted)
  const metres = distances[index]
  return metres === undefined ? undefined : { metres, rows: counts[index] ?? 0, tooNear: distances[index - 1] ?? 0 }
}

/** About how many rows are within each distance; the last is the furthest. */
async function countWithin(
  { dialect, relation, connection, within }: Search,
  distances: readonly number[],
  options: SelectOptions,
): Promise<number[]> {
  const furthest = within(distances.at(-1) ?? 0)
  const counts = distances.map((metres) => sql`count(*) FILTER (WHERE ${dialect.where(within(metres)).condition})`)
  const from = dialect.scan?.(relation.from, furthest) ?? relation.from
  const statement = sql`SELECT ${joinSql(counts, ', ')} FROM ${from} AS q WHERE ${dialect.where(furthest).condition}`
  const { batches } = await connection.select(statement, { ...options, atMost: 1 })
  return (await Array.fromAsync(batches)).flat(2).map(Number)
}

async function rowsWithin(
  { dialect, relation, connection, within, pushed }: Search,
  metres: number,
  options: SelectOptions,
): Promise<Batches> {
  const statement = planSql({ ...pushed, where: within(metres) }, relation, dialect, (_, value) => value)
  return (await connection.select(statement, { ...options, isStream: true })).batches
}

type Reach = { readonly metres: number; readonly rows: number; readonly tooNear: number }

/** Where enough rows were found, they say how far to look for nearer ones beside the boxes. */
function nextReach(metres: number, reach: number): number {
  const next = Number.isFinite(reach) ? reach + 2 * roundingMetres : metres * growth
  return next < mostMetres ? next : Number.POSITIVE_INFINITY
}

/** In turns, so that others are served meanwhile. */
async function keepAll(batches: Batches, keeper: NearestKeeper): Promise<void> {
  for await (const batch of batches) {
    for (let next = 0; next < batch.length; ) {
      next = takeTurn(batch, next, keeper.add)
      if (next < batch.length) await setImmediate()
    }
  }
}

/** One time limit for all statements. */
function remaining({ timeoutMs, ...options }: SelectOptions): Left {
  const end = performance.now() + timeoutMs
  return () => ({ ...options, timeoutMs: Math.max(1, Math.ceil(end - performance.now())) })
}
