// Runs plans on databases: the pushed part in SQL, the rest in memory.
import type { Batches } from '../../../kernel/db/guarded.ts'
import { laneSession } from '../../../kernel/db/postgres/raw-lanes.ts'
import { type Sql, valueIndex } from '../../../kernel/db/sql.ts'
import { encodeStatement } from '../../../kernel/db/values.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Dialect, DialectSubject, GeometryForm } from '../../../query/execution/dialect.ts'
import { boundNearest } from '../../../query/execution/nearest-reach.ts'
import { type SplitPlan, splitPlan, testedAttributes } from '../../../query/execution/plan-split.ts'
import { planSql, type Relation } from '../../../query/execution/plan-sql.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan, PlanColumn } from '../../../query/plan/plan.ts'
import { demandSystem } from '../../../query/values/unknown-system.ts'
import type { CompiledRow, Source, SourceRows } from '../dataset-type.ts'
import type { RunRest } from './remaining-plan.ts'

/** Where a plan runs, and what runs the rest of it. */
export type SqlTarget = {
  readonly connection: Connection
  readonly subject: Pick<DialectSubject, 'table' | 'attributes'>
  readonly runRest: RunRest
}

/** Runs a plan in the database, and the parts its engine cannot run on the rows it returns. */
export async function answerInSql(
  target: SqlTarget,
  relation: Relation,
  plan: Plan,
  shape: GeometryForm,
  options: SelectOptions,
): Promise<SourceRows> {
  demandSystems(plan, shape)
  const dialect = await target.connection.dialect({ ...target.subject, ...options, srid: shape.srid })
  const { pushed, condition, rest } = splitPlan(plan, dialect)
  if (rest) return answerRest(target, relation, dialect, { pushed, condition, rest }, shape, options)
  const run = (one: Plan, filter = splitPlan(one, dialect).condition): Promise<SourceRows> =>
    select(target.connection, { ...written({ relation, plan: one, shape, dialect, condition: filter }), options })
  // Fails where one value has another reference system than the others; then all rows are measured.
  const bounded = await boundNearest(plan, async (one) => firstCells(await run(one))).catch(ifRefused)
  return bounded ? run(bounded) : run(plan, condition)
}

/** Coordinates of an unknown system can be counted, and written as WKT, which says nothing of theirs. */
function demandSystems({ columns, where, order }: Plan, { geometry, srid }: GeometryForm): void {
  const isPlain = geometry === 'wkt' && srid === 4326
  const placed = columns.filter(({ aggregate, distanceTo }) =>
    aggregate ? aggregate !== 'count' : distanceTo || !isPlain,
  )
  const named = [...placed, ...order.map(({ by }) => by)].flatMap(({ attribute }) => attribute ?? [])
  for (const attribute of [...named, ...testedAttributes(where)]) demandSystem(attribute)
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
}

/** Of the rows of an answer with one column. */
async function firstCells({ batches }: SourceRows): Promise<Cell[]> {
  const cells: Cell[] = []
  for await (const batch of batches) for (const [cell = null] of batch) cells.push(cell)
  return cells
}

type WrittenStatement = { readonly statement: Sql; readonly columns: readonly PlanColumn[]; readonly changes: Changes }

type Writing = {
  readonly relation: Relation
  readonly plan: Plan
  readonly shape: GeometryForm
  readonly dialect: Dialect
  readonly condition: SplitPlan['condition']
}

/** The statement of a plan that needs nothing else, and how to read its answer. */
function written({ relation, plan, shape, dialect, condition }: Writing): WrittenStatement {
  const render = (column: PlanColumn, value: Sql) => dialect.transferSql(column, value, shape)
  const changes = plan.columns.map((column) => dialect.reading(column, shape))
  return { statement: planSql(plan, relation, dialect, render, condition), columns: plan.columns, changes }
}

async function select(
  connection: Connection,
  { statement, columns, changes, options }: WrittenStatement & { readonly options: SelectOptions },
): Promise<SourceRows> {
  const { width, batches } = await connection.select(statement, { ...options, isStream: true })
  if (width !== columns.length) {
    // Start reading and stop: an unread answer keeps its connection.
    for await (const _ of batches) break
    throw new ApiError('upstream_failed', 'The database server sent other columns than were asked for.')
  }
  return { columns, batches: changed(batches, changes) }
}

/**
 * The plan as a statement with a place for the one value in its filter: writing it takes longer than everything else here. Undefined
 * where that is not all of the plan, and where there are no lanes to the database.
 */
export async function compileInSql(
  { connection, subject }: SqlTarget,
  relation: Relation,
  plan: Plan,
  shape: GeometryForm,
  value: string,
  options: SelectOptions,
): Promise<CompiledRow | undefined> {
  const { server, settings = '' } = connection.postgres ?? {}
  if (!(server && 'platform' in server)) return undefined
  const dialect = await connection.dialect({ ...subject, ...options, srid: shape.srid })
  const { condition, rest } = splitPlan(plan, dialect)
  if (rest) return undefined
  const { statement, columns, changes } = written({ relation, plan, shape, dialect, condition })
  const place = valueIndex(statement, value)
  if (place === undefined) return undefined
  const { text, values } = encodeStatement(statement)
  const binary = columns.map(() => false)
  return {
    session: laneSession(server, settings),
    columns,
    statementFor: (other) => ({ text, values: values.with(place, other.toWellFormed()), binary, isUntrusted: false }),
    cellsOf: (bytes, at) => changes.map((change, index) => cellAt(bytes, at, index, change)),
  }
}

function cellAt(bytes: Buffer, at: Int32Array, index: number, change: Change | undefined): Cell {
  const from = at[2 * index] ?? -1
  if (from < 0) return null
  const text = bytes.toString('utf8', from, at[2 * index + 1])
  return change ? change(text) : text
}

async function answerRest(
  { connection, runRest }: SqlTarget,
  relation: Relation,
  dialect: Dialect,
  { pushed, condition, rest }: Required<SplitPlan>,
  shape: GeometryForm,
  { atMost: _, ...options }: SelectOptions,
): Promise<SourceRows> {
  // Loaded on demand: PostgreSQL leaves nothing to do in memory, and these modules import geodesy and projections.
  const [{ collectRest, streamRest }, { createNearestSearch }] = await Promise.all([
    import('./remaining-plan.ts'),
    import('./nearest-search.ts'),
  ])
  const { plan, isStream } = rest
  const { definitions = {} } = dialect
  const { columns } = plan
  const readAll = async (): Promise<Batches> => {
    const statement = planSql(pushed, relation, dialect, asItIs, condition)
    return (await connection.select(statement, { ...options, isStream: true })).batches
  }
  if (isStream) {
    const kept = streamRest(plan, pushed, await readAll(), definitions)
    return { columns, batches: readCells(kept, columns, dialect, shape) }
  }
  const nearest = createNearestSearch({ connection, relation, dialect, pushed, plan })
  const answer = nearest ? await nearest(options) : await collectRest(pushed, await readAll(), definitions)
  const definition = shape.srid === 4326 ? undefined : definitions[shape.srid]
  const job = { answer, plan, shape: { geometry: shape.geometry, ...(definition && { definition }) } }
  const done = await runRest(job, options)
  return { columns, batches: changed(done.batches, columns.map(shortTime)) }
}

/** Trims a time's decimals: memory writes six, an engine as many as needed. */
function shortTime({ type, attribute }: PlanColumn): Change | undefined {
  if (type !== 'datetime' && type !== 'time') return undefined
  return (cell) => {
    const short = cell.replace(/\.?0+(?=Z?$)/, (zeros) => (cell.includes('.') ? '' : zeros))
    return attribute?.withoutZone ? short.replace(/Z$/, '') : short
  }
}

export async function explainInSql(
  { connection, subject }: SqlTarget,
  relation: Relation,
  plan: Plan,
  options: SelectOptions,
): Promise<unknown> {
  const dialect = await connection.dialect({ ...subject, ...options, srid: 4326 })
  const { pushed, condition } = splitPlan(plan, dialect)
  return connection.explain(planSql(pushed, relation, dialect, asItIs, condition), options)
}

const asItIs = (_: PlanColumn, value: Sql): Sql => value

/** The capabilities of a source in a database; `inSql` is for callers that write their own PostGIS SQL. */
export function sqlAbilities(
  { connection, subject }: SqlTarget,
  relation: Relation,
  isTrusted: boolean,
): Pick<Source, 'key' | 'isCountable' | 'inSql' | 'inBlocks' | 'readsBoxes'> {
  const { key } = relation
  const { postgres, selectBlocks } = connection
  return {
    key,
    isCountable: true,
    readsBoxes: true,
    ...(postgres && { inSql: { connection: postgres, relation, isTrusted } }),
    ...(selectBlocks && { inBlocks: { connection: { ...connection, selectBlocks }, relation, subject } }),
  }
}

type Change = (cell: string) => string | null
type Changes = readonly (Change | undefined)[]

function readCells(batches: Batches, columns: readonly PlanColumn[], dialect: Dialect, shape: GeometryForm): Batches {
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

type ChangedColumn = { readonly change: Change; readonly index: number }

async function* changedStream(
  batches: AsyncIterable<Cell[][]>,
  places: readonly ChangedColumn[],
): AsyncGenerator<Cell[][]> {
  for await (const batch of batches) {
    changeCells(batch, places)
    yield batch
  }
}

function changeCells(batch: Cell[][], places: readonly ChangedColumn[]): void {
  for (const cells of batch) {
    for (const { change, index } of places) {
      const cell = cells[index]
      if (cell !== null && cell !== undefined) cells[index] = change(cell)
    }
  }
}
