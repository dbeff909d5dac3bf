// Writes the files of an overview: first where each row lies, then for each zoom the rows that the rule shows.
import { ident, joinSql, raw, type Sql, sql } from '../../../../kernel/db/sql.ts'
import type { DerivedFile, DerivedFiles } from '../../../../query/execution/connection.ts'
import { squareOf } from '../../strategy/block-grid.ts'
import { sizeClassSql } from '../../strategy/block-loads.ts'
import { type BlockQuery, whole } from '../../strategy/block-query.ts'
import type { DensestTiles } from '../../thinning/densest-tiles.ts'
import {
  alwaysShown,
  cellBits,
  chooseRates,
  highestThinned,
  rankLimit,
  rateAt,
  thinningBudget,
} from '../../thinning/thinning-rule.ts'

/** Of a place: the cells of the highest zoom. */
const gridBits = highestThinned + cellBits

/** The rows of all zooms together are at most so many times those of the table; higher zooms are made of all rows. */
const mostOfTable = 1

export type OverviewWork = {
  readonly derived: DerivedFiles
  readonly query: BlockQuery
  readonly loads: DensestTiles['loads']
  readonly budget: Parameters<typeof thinningBudget>[0]
  /** Of all files. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  onProgress(fraction: number): Promise<void>
}

export type WrittenLevel = DerivedFile & { readonly zoom: number | 'all' }

const stepMs = 600_000

export async function writeOverview(work: OverviewWork): Promise<{ levels: WrittenLevel[]; allFrom: number }> {
  const { query, loads, budget, derived, signal } = work
  const rates = chooseRates(loads, thinningBudget(budget))
  const write = (name: string, statement: Sql): Promise<DerivedFile> =>
    derived.write(name, statement, { timeoutMs: stepMs, signal })
  const places = await write('places', positionsSql(query))
  const levels: WrittenLevel[] = []
  let [rows, bytes] = [0, 0]
  const keep = (zoom: number | 'all', file: DerivedFile): void => {
    bytes += file.bytes
    if (bytes > work.maxBytes) throw new Error(`The overview would take more than ${work.maxBytes} bytes`)
    levels.push({ ...file, zoom })
  }
  for (let zoom = 0; zoom < rates.length; zoom++) {
    await work.onProgress((zoom + 1) / (rates.length + 2))
    const shown = await write(
      `shown${zoom}`,
      shownSql(derived.writtenRows('places'), zoom, rateAt(rates, zoom), query.isPoint),
    )
    rows += shown.rows
    if (rows > mostOfTable * places.rows) break
    keep(zoom, await write(`zoom${zoom}`, rowsSql(query, derived.writtenRows(`shown${zoom}`), zoom)))
  }
  if (levels.length === rates.length && !(await isSorted(work))) {
    keep('all', await write('all', allSql(query, derived.writtenRows('places'), rates.length)))
  }
  return { levels, allFrom: rates.length }
}

function positionsSql({ rowsFrom, rank, grid }: BlockQuery): Sql {
  return sql`
    SELECT r, k, x, y, width FROM (
      SELECT q.svc_row AS r, ${rank} AS k, ${squareOf(grid.x, gridBits)} AS x, ${squareOf(grid.y, gridBits)} AS y,
        ${grid.width} AS width FROM ${rowsFrom} AS q) AS placed
    WHERE x IS NOT NULL AND y IS NOT NULL`
}

/** The rows that the rule shows at a zoom, with what they stand for. */
function shownSql(places: Sql, zoom: number, rate: number, isPoint: boolean): Sql {
  const shift = whole(gridBits - zoom - cellBits)
  const size = isPoint ? raw('0') : sizeClassSql(raw('width'), whole(2 ** zoom))
  const limits = Array.from({ length: alwaysShown + 1 }, (_, one) => `WHEN ${one} THEN ${rankLimit(rate, one)}`)
  const limit = isPoint ? whole(rankLimit(rate)) : raw(`CASE class ${limits.join(' ')} END`)
  return sql`
    WITH classed AS (
      SELECT r, k, x, y, ${size} AS class, x >> ${shift} AS cell_x, y >> ${shift} AS cell_y FROM ${places} AS p),
    classes AS (
      SELECT cell_x, cell_y, class, arg_min(r, k) AS lowest, min(k) AS k, count(*) AS members FROM classed GROUP BY ALL),
    turned AS (
      SELECT *, row_number() OVER (PARTITION BY cell_x, cell_y ORDER BY class = ${whole(alwaysShown)}, k) = 1 AS is_first FROM classes),
    totals AS (
      SELECT cell_x, cell_y, class, CASE WHEN is_first THEN lowest END AS first, members + CASE WHEN is_first
        THEN coalesce(sum(members) FILTER (NOT is_first AND k >= ${limit}) OVER (PARTITION BY cell_x, cell_y), 0) ELSE 0 END AS rows
      FROM turned),
    shown AS (
      SELECT r, k, x, y, class, cell_x, cell_y, rows FROM classed JOIN totals USING (cell_x, cell_y, class)
      WHERE k < ${limit} OR r = first)
    SELECT r, k, x, y, class, (rows // shown + CASE WHEN place <= rows % shown THEN 1 ELSE 0 END)::BIGINT AS n FROM (
      SELECT *, count(*) OVER cell AS shown, row_number() OVER (PARTITION BY cell_x, cell_y, class ORDER BY k) AS place
      FROM shown WINDOW cell AS (PARTITION BY cell_x, cell_y, class)) AS counted`
}

/** Whole rows in strips of a quarter of a tile, so that a tile reads few row groups. */
const stripBits = 2

function rowsSql(query: BlockQuery, shown: Sql, zoom: number): Sql {
  return sql`
    SELECT ${valuesOf(query)}, s.n AS svc_count, s.class AS svc_class, s.k AS svc_rank
    FROM ${query.rowsFrom} AS q JOIN ${shown} AS s ON s.r = q.svc_row
    ORDER BY s.x >> ${whole(gridBits - zoom - stripBits)}, s.y`
}

function allSql(query: BlockQuery, places: Sql, zoom: number): Sql {
  return sql`
    SELECT ${valuesOf(query)}, s.k AS svc_rank FROM ${query.rowsFrom} AS q JOIN ${places} AS s ON s.r = q.svc_row
    ORDER BY s.x >> ${whole(Math.max(0, gridBits - zoom - stripBits))}, s.y`
}

/** The reference system is the dataset's: files without one are read as they are. */
function valuesOf({ values, names }: BlockQuery): Sql {
  const [geometry = raw('NULL'), ...others] = values
  const first = sql`ST_GeomFromWKB(ST_AsWKB(${geometry})) AS ${ident(names[0] ?? 'geometry')}`
  return joinSql([first, ...others.map((value, index) => sql`${value} AS ${ident(names[index + 1] ?? '')}`)], ', ')
}

const partRows = 20_480
/** Parts of the file that overlap each other more than this are not found by place. */
const mostOverlap = 8

/** Whether neighbouring rows of the table lie near each other, and the file tells where. */
async function isSorted({ query, derived, signal }: OverviewWork): Promise<boolean> {
  if (!query.thinning.isSorted) return false
  const statement = sql`
    SELECT overlap FROM (
      SELECT sum(area) / nullif((max(x1) - min(x0)) * (max(y1) - min(y0))::DOUBLE, 0) AS overlap FROM (
        SELECT (max(x) - min(x)) * (max(y) - min(y))::DOUBLE AS area, min(x) AS x0, max(x) AS x1, min(y) AS y0, max(y) AS y1
        FROM ${derived.writtenRows('places')} GROUP BY r // ${whole(partRows)}) AS parts) AS whole
    WHERE overlap <= ${whole(mostOverlap)}`
  // Its one row is there or not.
  const { rows } = await derived.write('overlap', statement, { timeoutMs: stepMs, signal })
  return rows === 1
}
