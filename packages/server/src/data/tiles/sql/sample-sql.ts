// The SQL of a sampled tile: some of its points, and some of every place that the sample missed.
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import { type Grid, gridInDegrees, gridInMetres } from '../source/tile-bounds.ts'
import { isInSample, pagesOf, rankLimitSql, rowRank, sampleRank, sampleSeed } from '../thinning/rank-sql.ts'
import type { Thinned } from '../thinning/thinned-sql.ts'
import { conditionsOf, geometrySql, mercatorCodes, stored, type TileQuery } from './tile-sql.ts'

/** `isByIndex`: the tile has so few of the table's rows that the index finds them sooner. */
export type PointSample = Pick<Thinned, 'rate' | 'cellBits'> & { readonly isByIndex: boolean }

/** Cells are looked at only in blocks in which there is something. */
const blockBits = 2
/**
 * The points of a thinned tile that holds too many to read them all: those whose rank is below the rate, and of each cell
 * without any the one with the lowest rank, with what they stand for as the last column. A sample of whole pages would leave
 * out whole towns, since tables are often stored in the order of places: so more pages are read, and only some rows of each are
 * shown; see sampleRank. Rows are read from one cell around the tile, which is more than its margin: so neighbouring tiles find
 * the same rows in a cell that both draw.
 */
export function sampleSql(query: TileQuery, { rate, cellBits, isByIndex }: PointSample): Sql {
  const cells = 2 ** cellBits
  const { geometry, columns, limit } = query
  const { xs, ys } = gridOf(query, cells)
  const shown = [geometrySql(query), ...columns.map(({ value }) => value)]
  const names = joinSql(
    shown.map((_, index) => ident(`c${index}`)),
    ', ',
  )
  const values = joinSql(
    shown.map((value, index) => sql`${value} AS ${ident(`c${index}`)}`),
    ', ',
  )
  const [x, y] = [sql`ST_X(${stored(geometry)})`, sql`ST_Y(${stored(geometry)})`]
  const perSide = cells + 2
  const last = raw(String((perSide - 1) >> blockBits))
  // Twice the limit, because the rows around the tile do not count for it.
  return sql`
    WITH drawn AS MATERIALIZED (
      SELECT ${values}, ${rowRank} AS place, width_bucket(${x}, ${xs}::float8[]) AS cx, width_bucket(${y}, ${ys}::float8[]) AS cy
      FROM ${sampled(query, rate, isByIndex)} AND (${conditionsOf({ ...query, margin: 1 / cells })})),
    grid AS MATERIALIZED (SELECT ${xs}::float8[] AS xs, ${ys}::float8[] AS ys),
    blocks AS MATERIALIZED (
      SELECT bx, by FROM grid CROSS JOIN generate_series(0, ${last}) AS bx CROSS JOIN generate_series(0, ${last}) AS by
      WHERE (bx, by) IN (SELECT ${blockOf('cx')}, ${blockOf('cy')} FROM drawn) OR EXISTS (
        SELECT FROM ${query.from} AS q WHERE ${inBox(query, blockEdges(perSide))})),
    missed AS MATERIALIZED (
      SELECT cx, cy FROM blocks CROSS JOIN generate_series(${cellsOf('bx', perSide)}) AS cx CROSS JOIN generate_series(${cellsOf('by', perSide)}) AS cy
      EXCEPT SELECT cx, cy FROM drawn)
    SELECT ${names}, n FROM (
      SELECT ${names}, n, 0 AS place FROM missed CROSS JOIN grid CROSS JOIN LATERAL (
        SELECT ${values}, (count(*) OVER ())::int4 AS n FROM ${query.from} AS q
        WHERE ${inBox(query, cellEdges)} AND ${x} < xs[cx + 1] AND ${y} < ys[cy + 1] ORDER BY ${sampleRank} LIMIT 1) AS found
      UNION ALL
      SELECT ${names}, ${raw(String(Math.round(1 / rate)))}, place FROM drawn) AS rows
    ORDER BY place LIMIT ${2 * limit}::int8`
}

function gridOf({ tile, geometry }: TileQuery, cells: number): Grid {
  return mercatorCodes.has(geometry.srid ?? 0) ? gridInMetres(tile, cells) : gridInDegrees(tile, cells)
}

/** The rows below the rate, found in a sample of pages or by index. */
function sampled({ from }: TileQuery, rate: number, isByIndex: boolean): Sql {
  const pages = isByIndex ? undefined : pagesOf(rate)
  if (pages === undefined) return sql`${from} AS q WHERE ${sampleRank} < ${rankLimitSql(rate)}`
  return sql`${from} AS q TABLESAMPLE SYSTEM (${100 * pages}::float4) REPEATABLE (${raw(String(sampleSeed))}) WHERE ${isInSample}`
}

/** Cells are numbered from 1, as width_bucket does and arrays are. */
const blockOf = (cell: string): Sql => raw(`(${cell} - 1) >> ${blockBits}`)
const cellsOf = (block: string, perSide: number): Sql =>
  raw(`(${block} << ${blockBits}) + 1, least((${block} + 1) << ${blockBits}, ${perSide})`)

const cellEdges = 'xs[cx], ys[cy], xs[cx + 1], ys[cy + 1]'
const blockEdges = (perSide: number): string => {
  const end = (block: string): string => `least(((${block} + 1) << ${blockBits}) + 1, ${perSide + 1})`
  return `xs[(bx << ${blockBits}) + 1], ys[(by << ${blockBits}) + 1], xs[${end('bx')}], ys[${end('by')}]`
}

/** The filter's rows in a box of the grid. */
function inBox({ geometry, where }: TileQuery, edges: string): Sql {
  const srid = geometry.unlocated ? 0 : (geometry.srid ?? 0)
  const box = sql`${stored(geometry)} && ST_MakeEnvelope(${raw(edges)}, ${srid}::int4)`
  const isFiltered = where.kind !== 'and' || where.filters.length > 0
  return isFiltered ? sql`${box} AND ${filterSql(where, column)}` : box
}
