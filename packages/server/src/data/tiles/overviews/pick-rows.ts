// Picks the rows that an overview shows.
import type { Queryable } from '../../../kernel/db/db.ts'
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { classTotalsSql, pointTotalsSql, rankLimitSql, standsForSql } from '../thinning/rank-sql.ts'
import { alwaysShown } from '../thinning/thinning-rule.ts'
import { overviewFringe } from './overview.ts'
import { cellShift, tileMetres, tileShift } from './overview-grid.ts'
import { classAt, type OverviewSource } from './overview-rows.ts'

const fringe = tileMargin + overviewFringe

/** One zoom of an overview. Higher zooms are made first. */
export type Level = OverviewSource & {
  readonly zoom: number
  readonly isHighest: boolean
  readonly rate: number
  readonly cellBits: number
}

/**
 * Picks the rows that are shown at a zoom, by the rule of thinning-rule.ts. A row of the table is the id of a row, what it takes
 * to pick it at the zoom below, the number of rows that it stands for, and its cell. What a zoom shows the next higher one does
 * too, and that says how many rows were in its cells; so the rows themselves are read for the highest zoom only.
 */
export async function pickRows(tx: Queryable, level: Level): Promise<void> {
  const { zoom, isPoint, rate } = level
  const into = level.named(`picked_${zoom}`)
  const size = classAt(zoom)
  const limit = rankLimitSql(rate, isPoint ? undefined : raw('size'))
  const isLarge = sql`${size} = ${raw(String(alwaysShown))}`
  const candidates = candidatesOf(level)
  const [inCells, large] = isPoint
    ? [sql`(SELECT *, 0 AS size FROM ${candidates} AS c)`, raw('')]
    : [
        sql`(SELECT *, ${size} AS size FROM ${candidates} AS c WHERE NOT ${isLarge})`,
        sql`UNION ALL SELECT id, rank, magnitude, x, y, n FROM ${candidates} AS c WHERE ${isLarge}`,
      ]
  const rows = sql`${inCells} AS c`
  await tx.query(sql`
    CREATE UNLOGGED TABLE ${into} AS
    WITH cells AS MATERIALIZED (${isPoint ? pointTotalsSql(rows) : classTotalsSql(rows, rate)})
    SELECT id, rank, magnitude, x, y,
      ${standsForSql(raw('total'), raw('count(*) OVER cell'), raw('row_number() OVER (cell ORDER BY rank, id)'))} AS n
    FROM ${rows} JOIN cells USING (x, y, size) WHERE rank < ${limit} OR rank = first
    WINDOW cell AS (PARTITION BY x, y, size) ${large}`)
  // The planner needs the new row counts.
  await tx.query(sql`ANALYZE ${into} (id)`)
}

/** The rows of the zoom above, each with what it stands for and its cell of this zoom. */
function candidatesOf({ zoom, isHighest, cellBits, named }: Level): Sql {
  const shift = cellShift(zoom, cellBits)
  return isHighest
    ? sql`(SELECT id, rank, magnitude, 1::int4 AS n, ${raw(`cx >> ${shift} AS x, cy >> ${shift} AS y`)} FROM ${named('rows')})`
    : sql`(SELECT id, rank, magnitude, n, x >> 1 AS x, y >> 1 AS y FROM ${named(`picked_${zoom + 1}`)})`
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

/** The picked rows of crowded tiles. The fringe is rounded up to whole cells, so the cell of a point decides. */
export function pickedInCrowded(level: Level): Sql {
  const picked = level.named(`picked_${level.zoom}`)
  if (!level.isPoint) {
    // Its rows have the boxes.
    const shapes = sql`SELECT p.* FROM ${picked} AS p JOIN ${level.named('rows')} AS r USING (id)`
    return sql`(${shapes} WHERE ${isSeen(level)})`
  }
  const { cellBits } = level
  const cells = { x: ['x', 'x'], y: ['y', 'y'], width: Math.ceil(fringe * 2 ** cellBits), shift: cellBits } as const
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
