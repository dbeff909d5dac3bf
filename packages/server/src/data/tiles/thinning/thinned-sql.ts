// The SQL of a tile of a thinned zoom that reads all rows of the tile: what they stand for is counted exactly.
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { unitInMetres } from '../source/tile-bounds.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import { conditionsOf, geometrySql, stored, type TileQuery, tileMargin } from '../sql/tile-sql.ts'
import { cellAt, cornersOf, hasCells, widthOf } from './corners-sql.ts'
import { classTotalsSql, pointTotalsSql, rankLimitSql, sizeClassSql, standsForSql } from './rank-sql.ts'
import { alwaysShown, shareOf, widestInCells } from './thinning-rule.ts'

/** How a tile is thinned: the rate of its zoom, its cells, the rank of a row of `q`, and whether all rows are single points. */
export type Thinned = {
  readonly rate: number
  readonly cellBits: number
  readonly rank: Sql
  readonly isPoint: boolean
}

const countName = 'svc_count'

/** What a feature stands for, as a column of the tile. */
export const countedAs = (value: Sql): SelectedColumn => ({
  name: countName,
  kind: 'integer',
  isBinary: true,
  isCount: true,
  value,
})

/**
 * The rows of a thinned tile, with what they stand for as the last column. Rows of one cell around the tile are read as well, so
 * that neighbouring tiles see whole cells on their border, and of shapes those that reach into the tile from further away.
 */
export function thinnedSql(query: TileQuery, thinned: Thinned): Sql {
  return hasCells(query, thinned.isPoint) ? inCells(query, thinned) : byRank(query, thinned)
}

function inCells(query: TileQuery, { rate, cellBits, rank, isPoint }: Thinned): Sql {
  const { tile, from, geometry, columns, weight = raw('1'), limit } = query
  const corners = cornersOf(geometry, isPoint)
  const [cx, cy] = [
    cellAt(tile.z, sql`(${corners.x0} + ${corners.x1}) / 2`, cellBits),
    cellAt(tile.z, sql`(${corners.y0} + ${corners.y1}) / 2`, cellBits),
  ]
  const size = isPoint ? raw('0') : sizeClassSql(widthOf(corners), unitInMetres(tile.z, 1))
  const isLarge = raw(`size = ${alwaysShown}`)
  const large = isPoint ? raw('') : sql`UNION ALL SELECT whole, rank, size, n::int4 FROM near WHERE ${isLarge}`
  const totals = isPoint ? pointTotalsSql(raw('near')) : classTotalsSql(sql`near WHERE NOT ${isLarge}`, rate)
  const margin = 2 ** -cellBits + (isPoint ? 0 : tileMargin + widestInCells / 2)
  const shown = [geometrySql(query), ...columns.map(({ value }) => value), raw('s.n')]
  return sql`
    WITH near AS MATERIALIZED (
      SELECT coalesce(q.*) AS whole, ${rank} AS rank, ${size} AS size, ${weight} AS n, ${cx} AS x, ${cy} AS y
      FROM ${from} AS q WHERE ${conditionsOf({ ...query, margin })}),
    cells AS MATERIALIZED (${totals}),
    shown AS MATERIALIZED (
      SELECT whole, rank, size, ${standsForSql(raw('total'), raw('count(*) OVER cell'), raw('row_number() OVER (cell ORDER BY rank)'))} AS n
      FROM near JOIN cells USING (x, y, size)
      WHERE rank < ${rankLimitSql(rate, isPoint ? undefined : raw('size'))} OR rank = first
      WINDOW cell AS (PARTITION BY x, y, size) ${large})
    SELECT ${joinSql(shown, ', ')} FROM shown AS s CROSS JOIN LATERAL (SELECT (s.whole).*) AS q
    WHERE ${conditionsOf({ ...query, where: { kind: 'and', filters: [] } })}
    ORDER BY s.size DESC, s.rank LIMIT ${limit}::int8`
}

/** Where cells would take a transformation of each row: by rank alone, and what a row stands for is what it is likely to. */
function byRank(query: TileQuery, { rate, rank, isPoint }: Thinned): Sql {
  const { tile, from, geometry, columns, limit } = query
  const isDegrees = (geometry.srid || 4326) === 4326
  const value = geometry.geography ? sql`${stored(geometry)}::geometry` : stored(geometry)
  const width = sql`greatest(ST_XMax(${value}) - ST_XMin(${value}), ST_YMax(${value}) - ST_YMin(${value}))`
  const size = isPoint ? undefined : sizeClassSql(width, isDegrees ? 360 / 2 ** tile.z : unitInMetres(tile.z, 1))
  const shares = Array.from({ length: alwaysShown + 1 }, (_, one) => Math.round(1 / shareOf(rate, one)))
  const count = size ? sql`(ARRAY[${raw(shares.join())}])[1 + ${size}]` : raw(`${shares[0]}::int4`)
  const order = size ? sql`${size} DESC, ${rank}` : rank
  return sql`
    SELECT ${joinSql([geometrySql(query), ...columns.map((column) => column.value), count], ', ')}
    FROM ${from} AS q WHERE (${conditionsOf(query)}) AND ${rank} < ${rankLimitSql(rate, size)}
    ORDER BY ${order} LIMIT ${limit}::int8`
}
