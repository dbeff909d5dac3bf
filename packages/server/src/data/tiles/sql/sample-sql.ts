// The SQL of a sampled tile: some of its points, and some of every place that the sample missed.
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import { type Grid, gridInDegrees, gridInMetres } from '../source/tile-bounds.ts'
import { conditionsOf, geometrySql, mercatorCodes, stored, type TileQuery } from './tile-sql.ts'

/** The part of a table that is read, and of the rows read the part that is kept; both from 0 to 1. */
export type PageSample = { readonly pages: number; readonly share: number }

/**
 * A tile is divided into this many cells each way, the same for all tiles of a zoom. Rows are read from one cell around the
 * tile, which is more than its margin: so neighbouring tiles find the same rows in a cell that both draw.
 */
const cells = 32
const perSide = cells + 2
/** Cells are looked at only in blocks in which there is something. */
const blockBits = 2
/** Rows that a cell without sampled rows shows. */
const perCell = 4
/** Any number, but the same for all tiles. */
const seed = 1

/** Whether cells can be laid over the geometry's own coordinates. */
export const hasGrid = ({ geometry: { geography, mixed, srid }, isWrapped }: TileQuery): boolean =>
  !isWrapped && !geography && !mixed && ((srid || 4326) === 4326 || mercatorCodes.has(srid ?? 0))

/**
 * Rows in the order of their importance: those of cells that the sample missed, then the first sampled row of each cell, the
 * second of each, and so on. A full tile therefore leaves out rows of crowded cells only. A sample of whole pages alone
 * would leave out whole towns, since tables are often stored in the order of places: so more pages are read, and only
 * some rows of each are kept, by a hash of their position in the table.
 */
export function sampleSql(query: TileQuery, sample: PageSample): Sql {
  const { geometry, columns, limit } = query
  const { xs, ys } = gridOf(query)
  const shown = [geometrySql(query), ...columns.map(({ value }) => value), raw('hashtid(q.ctid)')]
  const names = joinSql(
    shown.map((_, index) => ident(`c${index}`)),
    ', ',
  )
  const values = joinSql(
    shown.map((value, index) => sql`${value} AS ${ident(`c${index}`)}`),
    ', ',
  )
  const [x, y] = [sql`ST_X(${stored(geometry)})`, sql`ST_Y(${stored(geometry)})`]
  const last = raw(String((perSide - 1) >> blockBits))
  const hash = ident(`c${shown.length - 1}`)
  const answer = joinSql(
    shown.slice(0, -1).map((_, index) => ident(`c${index}`)),
    ', ',
  )
  // Twice the limit, because the rows around the tile do not count for it.
  return sql`
    WITH drawn AS MATERIALIZED (
      SELECT ${values}, width_bucket(${x}, ${xs}::float8[]) AS cx, width_bucket(${y}, ${ys}::float8[]) AS cy
      FROM ${sampled(query, sample)} AND (${conditionsOf({ ...query, margin: 1 / cells })})),
    grid AS MATERIALIZED (SELECT ${xs}::float8[] AS xs, ${ys}::float8[] AS ys),
    blocks AS MATERIALIZED (
      SELECT bx, by FROM grid CROSS JOIN generate_series(0, ${last}) AS bx CROSS JOIN generate_series(0, ${last}) AS by
      WHERE (bx, by) IN (SELECT ${blockOf('cx')}, ${blockOf('cy')} FROM drawn) OR EXISTS (
        SELECT FROM ${query.from} AS q WHERE ${inBox(query, blockEdges)})),
    missed AS MATERIALIZED (
      SELECT cx, cy FROM blocks CROSS JOIN generate_series(${cellsOf('bx')}) AS cx CROSS JOIN generate_series(${cellsOf('by')}) AS cy
      EXCEPT SELECT cx, cy FROM drawn)
    SELECT ${answer} FROM (
      SELECT ${names}, 0 AS place FROM missed CROSS JOIN grid CROSS JOIN LATERAL (
        SELECT ${values} FROM ${query.from} AS q
        WHERE ${inBox(query, cellEdges)} AND ${x} < xs[cx + 1] AND ${y} < ys[cy + 1] LIMIT ${raw(String(perCell))}) AS found
      UNION ALL
      SELECT ${names}, row_number() OVER (PARTITION BY cx, cy ORDER BY ${hash}) FROM drawn) AS rows
    ORDER BY place, ${hash} LIMIT ${2 * limit}::int8`
}

function gridOf({ tile, geometry }: TileQuery): Grid {
  return mercatorCodes.has(geometry.srid ?? 0) ? gridInMetres(tile, cells) : gridInDegrees(tile, cells)
}

/** The sampled table with the condition that thins the rows of its pages. */
function sampled({ from }: TileQuery, { pages, share }: PageSample): Sql {
  const some = pages < 1 ? sql` TABLESAMPLE SYSTEM (${100 * pages}::float4) REPEATABLE (${raw(String(seed))})` : raw('')
  return sql`${from} AS q${some} WHERE (hashtid(q.ctid) & 65535) < ${Math.round(65_536 * share)}::int4`
}

/** Cells are numbered from 1, as width_bucket does and arrays are. */
const blockOf = (cell: string): Sql => raw(`(${cell} - 1) >> ${blockBits}`)
const cellsOf = (block: string): Sql =>
  raw(`(${block} << ${blockBits}) + 1, least((${block} + 1) << ${blockBits}, ${perSide})`)

const cellEdges = 'xs[cx], ys[cy], xs[cx + 1], ys[cy + 1]'
const endOf = (block: string): string => `least(((${block} + 1) << ${blockBits}) + 1, ${perSide + 1})`
const blockEdges = `xs[(bx << ${blockBits}) + 1], ys[(by << ${blockBits}) + 1], xs[${endOf('bx')}], ys[${endOf('by')}]`

/** The filter's rows in a box of the grid. */
function inBox({ geometry, where }: TileQuery, edges: string): Sql {
  const srid = geometry.unlocated ? 0 : (geometry.srid ?? 0)
  const box = sql`${stored(geometry)} && ST_MakeEnvelope(${raw(edges)}, ${srid}::int4)`
  const isFiltered = where.kind !== 'and' || where.filters.length > 0
  return isFiltered ? sql`${box} AND ${filterSql(where, column)}` : box
}
