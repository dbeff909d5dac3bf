// Reads and counts the rows of a tile.
import type { Batches } from '../../../kernel/db/guarded.ts'
import type { RawStatement } from '../../../kernel/db/postgres/raw-connection.ts'
import { boundNames, type Sql } from '../../../kernel/db/sql.ts'
import { encodeStatement } from '../../../kernel/db/values.ts'
import { planSelect } from '../../../query/execution/explain.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { TileData } from '../source/tile-source-type.ts'
import type { TileRows } from '../workers/tile-job.ts'
import type { SelectedColumn } from './tile-columns.ts'
import { type TileQuery, tileSql, totalSql } from './tile-sql.ts'

type InSql = NonNullable<TileData['inSql']>

const timeoutMs = 30_000

/** For a server, the worker runs the query itself; an embedded database is queried here. */
export async function sqlRows(
  { connection, isTrusted }: InSql,
  statement: Sql,
  columns: readonly SelectedColumn[],
  signal: AbortSignal,
): Promise<TileRows> {
  const { server, settings = '' } = connection
  if (server) {
    const demanded = connection.demandColumns?.(statement) ?? statement
    return { server, settings, statement: rawStatement(demanded, columns, isTrusted), names: boundNames(statement) }
  }
  const { batches } = await connection.select(statement, { timeoutMs, signal, isTrusted })
  return { cells: (await Array.fromAsync(batches)).flat(), geometry: 'ewkb' }
}

/** As a raw connection sends it: the geometry and what is compact come in their binary form. */
export const rawStatement = (statement: Sql, columns: readonly SelectedColumn[], isTrusted: boolean): RawStatement => ({
  ...encodeStatement(statement),
  binary: [true, ...columns.map(({ isBinary }) => isBinary)],
  isUntrusted: !isTrusted,
})

/** Batches with the geometry first, then the columns. */
export async function memoryBatches(
  source: TileData,
  plan: Plan,
  geometry: Attribute,
  columns: readonly SelectedColumn[],
  signal: AbortSignal,
): Promise<Batches> {
  const named = [geometry.name, ...columns.map(({ name }) => name)]
  const all = { ...plan, columns: named.map((name) => columnNamed(plan, name, geometry)) }
  const { batches } = await source.rows(all, { geometry: 'geojson', srid: 4326 }, { timeoutMs, signal })
  return batches
}

function columnNamed(plan: Plan, name: string, geometry: Attribute): Plan['columns'][number] {
  if (name === geometry.name) return { name, attribute: geometry, type: geometry.type }
  const column = plan.columns.find(({ attribute }) => attribute?.name === name)
  if (!column) throw new Error(`The plan has no column ${name}`)
  return column
}

/** The exact number of rows in the tile. */
export async function totalOf(
  { connection, isTrusted }: InSql,
  query: TileQuery,
  signal: AbortSignal,
): Promise<number> {
  const { batches } = await connection.select(totalSql(query), { timeoutMs, signal, isTrusted, atMost: 1 })
  return Number((await Array.fromAsync(batches)).flat(2)[0])
}

type PlanSource = Pick<InSql, 'connection' | 'isTrusted'>

/** What the planner expects of reading all rows of a tile. */
async function plannedTile(
  { connection, isTrusted }: PlanSource,
  query: TileQuery,
  signal: AbortSignal,
): Promise<{ rows: number; cost: number }> {
  const statement = tileSql({ ...query, order: [], limit: Number.MAX_SAFE_INTEGER })
  const plans = await planSelect(connection, statement, { timeoutMs, signal, isTrusted })
  const [{ Plan: root }] = plans as unknown as [{ Plan: { 'Plan Rows': number; 'Total Cost': number } }]
  return { rows: root['Plan Rows'], cost: root['Total Cost'] }
}

/** Above these limits (rows, or the planner's cost of a count) rows are not counted. */
const most = { rows: 10_000, cost: 10_000 }

/**
 * The number of rows in a tile that does not show all of them: counted if that is cheap, otherwise the planner's
 * estimate.
 */
export async function roughTotalOf(
  { connection, isTrusted }: PlanSource,
  query: TileQuery,
  signal: AbortSignal,
): Promise<{ rows: number; isCounted: boolean }> {
  const { rows: planned, cost } = await plannedTile({ connection, isTrusted }, query, signal)
  if (planned > most.rows || cost > most.cost) return { rows: planned, isCounted: false }
  const counting = totalSql(query, most.rows + 1)
  const { batches } = await connection.select(counting, { timeoutMs, signal, isTrusted, atMost: 1 })
  const rows = Number((await Array.fromAsync(batches)).flat(2)[0])
  return { rows, isCounted: rows <= most.rows }
}
