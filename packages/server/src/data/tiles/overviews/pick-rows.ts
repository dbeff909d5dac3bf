// Picks the rows that an overview shows.
import type { Queryable } from '../../../kernel/db/db.ts'
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { overviewFringe } from './overview.ts'
import { cellBits, cellShift, tileMetres, tileShift } from './overview-grid.ts'
import type { OverviewSource } from './overview-rows.ts'

/** The number of visible rows that a cell keeps. */
const largePerCell = 4
const fringe = tileMargin + overviewFringe

/** One zoom of an overview. Higher zooms are made first. */
export type Level = OverviewSource & { readonly zoom: number; readonly isHighest: boolean }

/**
 * Picks rows for each cell: of points the one with the lowest id, of shapes the largest visible ones and one of the
 * others. A row of the table is the id of a row, the number of rows that it stands for, and its cell.
 */
export async function pickRows(tx: Queryable, level: Level): Promise<void> {
  const into = level.named(`picked_${level.zoom}`)
  await tx.query(sql`CREATE UNLOGGED TABLE ${into} AS ${level.isPoint ? pickedPoints(level) : pickedShapes(level)}`)
  // The planner needs the new row counts.
  await tx.query(sql`ANALYZE ${into} (id)`)
}

/** A cell has four of the next higher zoom, so the rows themselves are read for the highest zoom only. */
function pickedPoints({ zoom, isHighest, named }: Level): Sql {
  if (isHighest) return oneOf(named('rows'), zoom)
  return sql`
    SELECT min(id) AS id, sum(n)::int4 AS n, x >> 1 AS x, y >> 1 AS y FROM ${named(`picked_${zoom + 1}`)} GROUP BY 3, 4`
}

const oneOf = (rows: Sql, zoom: number): Sql =>
  sql`SELECT min(id) AS id, count(*)::int4 AS n, ${cellAt(zoom)} FROM ${rows} GROUP BY 3, 4`

const cellAt = (zoom: number): Sql => raw(`cx >> ${cellShift(zoom)} AS x, cy >> ${cellShift(zoom)} AS y`)

function pickedShapes(level: Level): Sql {
  const { zoom, named } = level
  const others = raw(String(largePerCell - 1))
  const visible = raw(`${tileMetres(zoom) / 256}::float4`)
  return sql`
    WITH touching AS MATERIALIZED (
      SELECT id, cx, cy, size, ${cellAt(zoom)} FROM ${named('rows')} WHERE ${isSeen(level)}),
    large AS (
      SELECT id, x, y, row_number() OVER (PARTITION BY x, y ORDER BY id) AS place, count(*) OVER (PARTITION BY x, y) AS n
      FROM touching WHERE size >= ${visible})
    SELECT id, CASE WHEN place = 1 THEN greatest(1, n - ${others}) ELSE 1 END::int4 AS n, x, y FROM large
    WHERE place <= 1 + ${others}
    UNION ALL ${oneOf(sql`touching WHERE size < ${visible}`, zoom)}`
}

/** Shapes that touch a crowded tile: a box that is, with its fringe, no wider than a tile touches only those of its corners. */
function isSeen(level: Level): Sql {
  const { zoom } = level
  const shift = tileShift(zoom)
  const corners = touchesCrowded(level, {
    x: ['x0', 'x1'],
    y: ['y0', 'y1'],
    width: Math.ceil(fringe * 2 ** shift),
    shift,
  })
  return sql`${raw(`size > ${tileMetres(zoom) * (1 - 2 * fringe)}`)} OR ${corners}`
}

/** The picked rows of crowded tiles. The fringe is a whole number of cells, so the cell of a point decides. */
export function pickedInCrowded(level: Level): Sql {
  const picked = level.named(`picked_${level.zoom}`)
  if (!level.isPoint) return picked
  const cells = { x: ['x', 'x'], y: ['y', 'y'], width: fringe * 2 ** cellBits, shift: cellBits } as const
  return sql`(SELECT * FROM ${picked} WHERE ${touchesCrowded(level, cells)})`
}

/** The columns of a box's corners in a grid, the width of the fringe and the bits of a tile in it. */
type Corners = {
  readonly x: readonly [string, string]
  readonly y: readonly [string, string]
  readonly width: number
  readonly shift: number
}

function touchesCrowded({ zoom, named }: Level, { x, y, width, shift }: Corners): Sql {
  const at = (column: string, end: 0 | 1): string => `(${column} ${end ? '+' : '-'} ${width}) >> ${shift}`
  const tiles = sql`(SELECT x, y FROM ${named('tiles')} WHERE zoom = ${raw(String(zoom))})`
  const corner = (endX: 0 | 1, endY: 0 | 1): Sql =>
    sql`${raw(`(${at(x[endX], endX)}, ${at(y[endY], endY)})`)} IN ${tiles}`
  return joinSql([corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)], ' OR ')
}
