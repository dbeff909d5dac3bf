// Runs plans on databases: the pushed part in SQL, the rest in memory.
import type { Batches } from '../../../kernel/db/guarded.ts'
import { rebindable, type Sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Dialect, DialectSubject, Shape } from '../../../query/execution/dialect.ts'
import { roughlyNearest, withinReach } from '../../../query/execution/nearest-reach.ts'
import { type SplitPlan, splitPlan } from '../../../query/execution/plan-split.ts'
import { planSql, type Relation } from '../../../query/execution/plan-sql.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Column, Plan } from '../../../query/plan/plan.ts'
import type { Answered, Source } from '../dataset-type.ts'
import type { RunRest } from './remaining-plan.ts'

/** Where a plan runs, and what runs the rest of it. */
export type SqlPlace = {
  readonly connection: Connection
  readonly subject: Pick<DialectSubject, 'table' | 'attributes'>
  readonly runRest: RunRest
}

/** Runs a plan in the database, and the parts its engine cannot run on the rows it returns. */
export async function answerInSql(
  place: SqlPlace,
  relation: Relation,
  plan: Plan,
  shape: Shape,
  options: SelectOptions,
): Promise<Answered> {
  const dialect = await place.connection.dialect({ ...place.subject, ...options, srid: shape.srid })
  const { pushed, condition, rest } = splitPlan(plan, dialect)
  if (rest) return answerRest(place, relation, dialect, { pushed, condition, rest }, shape, options)
  const run = (one: Plan, filter = splitPlan(one, dialect).condition): Promise<Answered> =>
    select(place.connection, { ...written({ relation, plan: one, shape, dialect, condition: filter }), options })
  const nearby = roughlyNearest(plan)
  return nearby ? run(withinReach(plan, await firstCells(await run(nearby)))) : run(plan, condition)
}

/** Of the rows of an answer with one column. */
async function firstCells({ batches }: Answered): Promise<Cell[]> {
  const cells: Cell[] = []
  for await (const batch of batches) for (const [cell = null] of batch) cells.push(cell)
  return cells
}

type Written = { readonly statement: Sql; readonly columns: readonly Column[]; readonly changes: Changes }

type Writing = {
  readonly relation: Relation
  readonly plan: Plan
  readonly shape: Shape
  readonly dialect: Dialect
  readonly condition: SplitPlan['condition']
}

/** The statement of a plan that needs nothing else, and how to read its answer. */
function written({ relation, plan, shape, dialect, condition }: Writing): Written {
  const render = (column: Column, value: Sql) => dialect.transferSql(column, value, shape)
  const changes = plan.columns.map((column) => dialect.reading(column, shape))
  return { statement: planSql(plan, relation, dialect, render, condition), columns: plan.columns, changes }
}

async function select(
  connection: Connection,
  { statement, columns, changes, options }: Written & { readonly options: SelectOptions },
): Promise<Answered> {
  const { width, batches } = await connection.select(statement, { ...options, isStream: true })
  if (width !== columns.length) {
    // Start reading and stop: an unread answer keeps its connection.
    for await (const _ of batches) break
    throw new ApiError('upstream_failed', 'The database server sent other columns than were asked for.')
  }
  return { columns, batches: changed(batches, changes) }
}

/**
 * The plan as a function of the one value in its filter, for the next values: writing the statement takes longer than
 * everything else here. Undefined if there is no such function.
 */
export async function answererInSql(
  { connection, subject }: SqlPlace,
  relation: Relation,
  plan: Plan,
  shape: Shape,
  value: string,
  options: SelectOptions,
): Promise<((value: string, options: SelectOptions) => Promise<Answered>) | undefined> {
  const dialect = await connection.dialect({ ...subject, ...options, srid: shape.srid })
  const { condition, rest } = splitPlan(plan, dialect)
  if (rest) return undefined
  const { statement, ...reading } = written({ relation, plan, shape, dialect, condition })
  const rebind = rebindable(statement, value)
  return rebind && ((other, options) => select(connection, { ...reading, statement: rebind(other), options }))
}

async function answerRest(
  { connection, runRest }: SqlPlace,
  relation: Relation,
  dialect: Dialect,
  { pushed, condition, rest }: Required<SplitPlan>,
  shape: Shape,
  { atMost: _, ...options }: SelectOptions,
): Promise<Answered> {
  // Loaded on demand: PostgreSQL leaves nothing to do in memory, and this module imports geodesy and projections.
  const { collectRest, streamRest } = await import('./remaining-plan.ts')
  const { plan, isStream } = rest
  const { definitions = {} } = dialect
  const statement = planSql(pushed, relation, dialect, asItIs, condition)
  const { batches } = await connection.select(statement, { ...options, isStream: true })
  const { columns } = plan
  if (isStream) {
    const kept = streamRest(plan, pushed, batches, definitions)
    return { columns, batches: readCells(kept, columns, dialect, shape) }
  }
  const answer = await collectRest(pushed, batches, definitions)
  const definition = shape.srid === 4326 ? undefined : definitions[shape.srid]
  const job = { answer, plan, shape: { geometry: shape.geometry, ...(definition && { definition }) } }
  const done = await runRest(job, options)
  return { columns, batches: changed(done.batches, columns.map(shortTime)) }
}

/** Trims a time's decimals: memory writes six, an engine as many as needed. */
function shortTime({ type, attribute }: Column): Change | undefined {
  if (type !== 'datetime' && type !== 'time') return undefined
  return (cell) => {
    const short = cell.replace(/\.?0+(?=Z?$)/, (zeros) => (cell.includes('.') ? '' : zeros))
    return attribute?.withoutZone ? short.replace(/Z$/, '') : short
  }
}

export async function explainInSql(
  { connection, subject }: SqlPlace,
  relation: Relation,
  plan: Plan,
  options: SelectOptions,
): Promise<unknown> {
  const dialect = await connection.dialect({ ...subject, ...options, srid: 4326 })
  const { pushed, condition } = splitPlan(plan, dialect)
  return connection.explain(planSql(pushed, relation, dialect, asItIs, condition), options)
}

const asItIs = (_: Column, value: Sql): Sql => value

/** The capabilities of a source in a database; `inSql` is for callers that write their own PostGIS SQL. */
export function sqlAbilities(
  { connection, subject }: SqlPlace,
  relation: Relation,
  isOurs: boolean,
): Pick<Source, 'key' | 'isCountable' | 'inSql' | 'inBlocks' | 'readsBoxes'> {
  const { key } = relation
  const { postgres, selectBlocks } = connection
  return {
    key,
    isCountable: true,
    readsBoxes: true,
    ...(postgres && { inSql: { connection: postgres, relation, isOurs } }),
    ...(selectBlocks && { inBlocks: { connection: { ...connection, selectBlocks }, relation, subject } }),
  }
}

type Change = (cell: string) => string | null
type Changes = readonly (Change | undefined)[]

function readCells(batches: Batches, columns: readonly Column[], dialect: Dialect, shape: Shape): Batches {
  return changed(
    batches,
    columns.map((column) => dialect.reading(column, shape)),
  )
}

function changed(batches: Batches, changes: Changes): Batches {
  const places = changes.flatMap((change, index) => (change ? [{ change, index }] : []))
  if (places.length === 0) return batches
  if (!Array.isArray(batches)) return changedStream(batches, places)
  for (const batch of batches) changeCells(batch, places)
  return batches
}

type ChangedPlace = { readonly change: Change; readonly index: number }

async function* changedStream(
  batches: AsyncIterable<Cell[][]>,
  places: readonly ChangedPlace[],
): AsyncGenerator<Cell[][]> {
  for await (const batch of batches) {
    changeCells(batch, places)
    yield batch
  }
}

function changeCells(batch: Cell[][], places: readonly ChangedPlace[]): void {
  for (const cells of batch) {
    for (const { change, index } of places) {
      const cell = cells[index]
      if (cell !== null && cell !== undefined) cells[index] = change(cell)
    }
  }
}
