// Grid clustering of points in SQL.
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { unitInMetres } from '../source/tile-bounds.ts'
import { mercatorPosition } from './mercator-sql.ts'
import type { SelectedColumn } from './tile-columns.ts'
import { conditionsOf, type TileQuery, tileMargin } from './tile-sql.ts'

/** The attribute names of supercluster; a single point has none of them. */
const forms: readonly (Pick<SelectedColumn, 'name' | 'kind' | 'isBinary'> & { value: Sql })[] = [
  { name: 'cluster', kind: 'boolean', isBinary: true, value: raw('CASE WHEN n > 1 THEN true END') },
  { name: 'cluster_id', kind: 'decimal', isBinary: false, value: raw('CASE WHEN n > 1 THEN id::text END') },
  { name: 'point_count', kind: 'integer', isBinary: true, value: raw('CASE WHEN n > 1 THEN n END') },
  {
    name: 'point_count_abbreviated',
    kind: 'decimal',
    isBinary: false,
    value:
      raw(`CASE WHEN n >= 10000 THEN round(n / 1000.0) || 'k' WHEN n >= 1000 THEN round(n / 1000.0, 1)::float8 || 'k'
      WHEN n > 1 THEN n::text END`),
  },
]

export const clusterColumns = (columns: readonly SelectedColumn[]): SelectedColumn[] => [...columns, ...forms]

/**
 * Merges the points of a grid cell into one feature at their average position. All tiles of a zoom share the grid and
 * read whole cells, so that neighbouring tiles agree on their border. `width` is a cell's width in tiles.
 */
export function clusterSql(query: TileQuery, width: number): Sql {
  const { tile, from, geometry, columns, weight = raw('1'), limit } = query
  const { x, y } = mercatorPosition(geometry)
  const cell = raw(String(unitInMetres(tile.z, 1) * width))
  const half = unitInMetres(0, 2)
  const across = sql`floor((x + ${raw(String(half))}) / ${cell})`
  const row = sql`floor((y + ${raw(String(half))}) / ${cell})`
  const perRow = raw(String(Math.ceil(2 ** tile.z / width)))
  const conditions = conditionsOf({ ...query, margin: tileMargin + width })
  const names = columns.map((_, index) => ident(`c${index}`))
  const values = columns.map(({ value }, index) => sql`, ${value} AS ${ident(`c${index}`)}`)
  const first = names.map((name) => sql`, (array_agg(${name}))[1] AS ${name}`)
  const alone = names.map((name) => sql`CASE WHEN n = 1 THEN ${name} END`)
  const shown = joinSql([raw('ST_SetSRID(ST_Point(x, y), 3857)'), ...alone, ...forms.map(({ value }) => value)], ', ')
  return sql`
    SELECT ${shown} FROM (
      SELECT sum(w)::int8 AS n, sum(x * w) / sum(w) AS x, sum(y * w) / sum(w) AS y,
        ${row}::numeric * ${perRow} + ${across}::numeric AS id${joinSql(first, '')}
      FROM (SELECT ${x} AS x, ${y} AS y, ${weight} AS w${joinSql(values, '')} FROM ${from} AS q WHERE ${conditions}) AS points
      WHERE x IS NOT NULL GROUP BY ${across}, ${row}) AS cells
    ORDER BY n DESC, id LIMIT ${limit}::int8`
}
