// The rows of a table in the grid of overviews, and the tiles in which there are too many of them.
import type { Queryable } from '../../../kernel/db/db.ts'
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { located } from '../../../query/execution/postgres-sql.ts'
import { wrapSql } from '../../../query/filter/wrap-sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { unitInMetres } from '../source/tile-bounds.ts'
import { isLonLat, mercatorOf, withinWorld } from '../sql/mercator-sql.ts'
import { cornerBytes, shapeBytes } from '../thinning/row-bytes.ts'
import { alwaysShown, type ThinningBudget, type TileLoad, visibleWidth } from '../thinning/thinning-rule.ts'
import { tileNumber } from './overview.ts'
import { cellOf, maxZoom, tileMetres, tileShift } from './overview-grid.ts'

/** A table of which an overview is made. */
export type OverviewSource = {
  readonly base: Sql
  readonly key: string
  readonly geometry: Attribute
  readonly isPoint: boolean
  /** Points in degrees with a whole number as key: they need no copy, for they are picked by key and then projected. */
  readonly isPlain: boolean
  readonly columns: readonly string[]
  /** See thinning-rule.ts; on the table as `q`. */
  readonly rank: Sql
  /** The name of a part of the overview that is being built. */
  named(part: string): Sql
}

/** A tile with at most this much fits into its budget, and is made from the table itself. */
type Enough = { readonly rows: number; readonly vertices: number; readonly bytes: number; readonly rowBytes: number }

const mostVertices = 200_000
/** Fewer are read from the table, however long its rows are. */
const fewest = 500

export const enoughFor = ({ aim }: ThinningBudget, rowBytes: number): Enough => ({
  rows: aim.rows,
  vertices: mostVertices,
  bytes: Math.max(aim.bytes, fewest * rowBytes),
  rowBytes,
})

/** Every row once. Returns how many there are. */
export async function makeRows(tx: Queryable, source: OverviewSource): Promise<number> {
  const into = source.named('rows')
  await tx.query(sql`CREATE UNLOGGED TABLE ${into} AS ${source.isPlain ? plainRows(source) : sortedRows(source)}`)
  return countOf(tx, into)
}

/** The keys of points in degrees and where they are, if they have a place on the map. */
function placedPoints({ base, key, rank, geometry }: OverviewSource): Sql {
  const value = located(geometry)
  const lon = geometry.period === undefined ? raw('lon') : withinWorld(raw('lon'), geometry.period)
  return sql`
    SELECT key, rank, ${lon} AS lon, lat
    FROM (SELECT q.${ident(key)} AS key, ${rank} AS rank, ST_X(${value}) AS lon, ST_Y(${value}) AS lat FROM ${base} AS q OFFSET 0) AS q
    WHERE lon BETWEEN -540 AND 540 AND lat BETWEEN -1000 AND 1000`
}

const inMercator = mercatorOf(raw('lon'), raw('lat'))

/** The keys of points and their cells, in one pass and without sorting. */
const plainRows = (source: OverviewSource): Sql => sql`
  SELECT key::int8 AS id, rank, 0::int2 AS magnitude, ${cellOf(inMercator.x)} AS cx, ${cellOf(inMercator.y)} AS cy FROM (${placedPoints(source)}) AS q`

/**
 * The largest first, numbered: the key, the centre and corners in the finest grid, the size, and the shape in web
 * mercator.
 */
function sortedRows(source: OverviewSource): Sql {
  const cell = (metres: string): Sql => cellOf(raw(metres))
  return sql`
    SELECT row_number() OVER (ORDER BY ${raw(source.isPoint ? 'key' : 'size DESC, key')}) AS id, rows.* FROM (
      SELECT key, rank, shape, vertices, ${cell('(x0 + x1) / 2')} AS cx, ${cell('(y0 + y1) / 2')} AS cy,
        ${cell('x0')} AS x0, ${cell('y0')} AS y0, ${cell('x1')} AS x1, ${cell('y1')} AS y1,
        greatest(x1 - x0, y1 - y0)::float4 AS size, ${source.isPoint ? raw('0::int2') : magnitude} AS magnitude
      FROM (${placedRows(source)}) AS q) AS rows`
}

/** The size class at the highest zoom, as if there were no last one: it is less by one at each lower zoom. */
const least = raw(String(tileMetres(maxZoom) * visibleWidth))
const magnitude = sql`(CASE WHEN greatest(x1 - x0, y1 - y0) >= ${least}
  THEN 1 + least(1000, floor(ln(greatest(x1 - x0, y1 - y0) / ${least}) / ln(2))) ELSE 0 END)::int2`

/** The size class of a row at a zoom. */
export const classAt = (zoom: number): Sql => raw(`least(${alwaysShown}, greatest(0, magnitude - ${maxZoom - zoom}))`)

/** Each row's shape in web mercator and its box in metres; null if it cannot be placed. */
function placedRows(source: OverviewSource): Sql {
  const { base, key, rank, geometry, isPoint } = source
  if (isPoint && isLonLat(geometry)) {
    const { x, y } = inMercator
    return sql`
      SELECT key, rank, ST_SetSRID(ST_Point(x, y), 3857) AS shape, 1 AS vertices, x AS x0, y AS y0, x AS x1, y AS y1
      FROM (SELECT key, rank, ${x} AS x, ${y} AS y FROM (${placedPoints(source)}) AS q OFFSET 0) AS q`
  }
  // svc.to_mercator handles every reference system, but is slower.
  const projected = sql`svc.to_mercator(${located(geometry)})`
  const shape = geometry.period === undefined ? projected : wrapSql(projected, unitInMetres(0, 1))
  return sql`
    SELECT key, rank, shape, ST_NPoints(shape) AS vertices,
      ST_XMin(box) AS x0, ST_YMin(box) AS y0, ST_XMax(box) AS x1, ST_YMax(box) AS y1
    FROM (SELECT key, rank, shape, Box3D(shape) AS box
      FROM (SELECT q.${ident(key)} AS key, ${rank} AS rank, ${shape} AS shape FROM ${base} AS q OFFSET 0) AS q
      WHERE NOT ST_IsEmpty(shape) OFFSET 0) AS q`
}

/** The rows are counted by tile at these zooms only; the tiles of the zooms between are sums of theirs. */
const countedZooms = [5, 10, maxZoom]

/**
 * The tiles with too many rows or vertices, by zoom; see tileNumber. The parent of such a tile is always one too, so
 * the zooms begin with 0, and only rows in such tiles are counted at a higher zoom.
 */
export async function findCrowded(tx: Queryable, source: OverviewSource, enough: Enough): Promise<number[][]> {
  const tiles = source.named('tiles')
  const bytes = raw(`sum(n) * ${enough.rowBytes} + sum(vertices) * ${cornerBytes} <= ${enough.bytes}`)
  await tx.query(sql`CREATE UNLOGGED TABLE ${tiles} (zoom int4, x int4, y int4, magnitude int2, n int8, vertices int8)`)
  for (let at = 0, crowded = 1; crowded > 0 && at < countedZooms.length; at++) {
    const [zoom = 0, above = -1] = [countedZooms[at], countedZooms[at - 1]]
    await countRows(tx, source, zoom, above)
    for (let next = zoom - 1; next > above; next--) await sumTiles(tx, tiles, next)
    await tx.query(sql`
      DELETE FROM ${tiles} WHERE (zoom, x, y) IN (SELECT zoom, x, y FROM ${tiles} GROUP BY 1, 2, 3
        HAVING sum(n) <= ${raw(String(enough.rows))} AND sum(vertices) <= ${raw(String(enough.vertices))} AND ${bytes})`)
    crowded = await countOf(tx, sql`${tiles} WHERE zoom = ${raw(String(zoom))}`)
  }
  await tx.query(sql`ANALYZE ${tiles}`)
  return tilesByZoom(await tx.query<TileCell>(sql`SELECT DISTINCT zoom, x, y FROM ${tiles}`))
}

async function countRows(
  tx: Queryable,
  { isPlain, named }: OverviewSource,
  zoom: number,
  above: number,
): Promise<void> {
  const at = (level: number): Sql => raw(`cx >> ${tileShift(level)}, cy >> ${tileShift(level)}`)
  const isWanted =
    above < 0
      ? raw('TRUE')
      : sql`(${at(above)}) IN (SELECT x, y FROM ${named('tiles')} WHERE zoom = ${raw(String(above))})`
  await tx.query(sql`
    INSERT INTO ${named('tiles')}
    SELECT ${raw(String(zoom))}, ${at(zoom)}, magnitude, count(*), ${raw(isPlain ? 'count(*)' : 'sum(vertices)')}
    FROM ${named('rows')} WHERE ${isWanted} GROUP BY 2, 3, 4`)
}

/** The tiles of a zoom from those of the next higher one. */
async function sumTiles(tx: Queryable, tiles: Sql, zoom: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO ${tiles} SELECT zoom - 1, x >> 1, y >> 1, magnitude, sum(n), sum(vertices) FROM ${tiles}
    WHERE zoom = ${raw(String(zoom + 1))} GROUP BY 1, 2, 3, 4`)
}

type TileCell = { zoom: number; x: number; y: number }

function tilesByZoom(tiles: readonly TileCell[]): number[][] {
  // Cells outside the map belong to no tile.
  const onMap = tiles.filter(({ zoom, x, y }) => x >= 0 && y >= 0 && x < 2 ** zoom && y < 2 ** zoom)
  const highest = Math.max(-1, ...onMap.map(({ zoom }) => zoom))
  return Array.from({ length: highest + 1 }, (_, z) =>
    onMap.filter(({ zoom }) => zoom === z).map(({ x, y }) => tileNumber({ z, x, y: 2 ** z - 1 - y })),
  )
}

/** Of each zoom so many of the fullest tiles are looked at. */
const looked = 20

/** What the densest tiles would hold without thinning; see chooseRates. `rowBytes` is what a row takes besides its shape. */
export async function densestOf(tx: Queryable, { named }: OverviewSource, rowBytes: number): Promise<TileLoad[][]> {
  const rows = await tx.query<TileCell & { size: number; n: number; vertices: number }>(sql`
    WITH fullest AS (
      SELECT zoom, x, y, row_number() OVER (PARTITION BY zoom ORDER BY sum(n) + sum(vertices) / 20 DESC) AS place
      FROM ${named('tiles')} GROUP BY 1, 2, 3)
    SELECT zoom, x, y, least(${raw(String(alwaysShown))}, greatest(0, magnitude - ${raw(String(maxZoom))} + zoom))::int4 AS size,
      sum(n)::float8 AS n, sum(vertices)::float8 AS vertices
    FROM ${named('tiles')} JOIN fullest USING (zoom, x, y) WHERE place <= ${raw(String(looked))} GROUP BY 1, 2, 3, 4`)
  const highest = Math.max(-1, ...rows.map(({ zoom }) => zoom))
  return Array.from({ length: highest + 1 }, (_, z) => {
    const tiles = Map.groupBy(
      rows.filter(({ zoom }) => zoom === z),
      ({ x, y }) => `${x} ${y}`,
    )
    return [...tiles.values()].map((parts) => loadOf(parts, rowBytes))
  })
}

const loadOf = (parts: readonly { size: number; n: number; vertices: number }[], rowBytes: number): TileLoad =>
  Array.from({ length: Math.max(...parts.map(({ size }) => size)) + 1 }, (_, at) => {
    const part = parts.find(({ size }) => size === at)
    if (!part) return { rows: 0, bytes: 0 }
    return { rows: part.n, bytes: part.n * (rowBytes + shapeBytes(at, part.vertices / part.n)) }
  })

export async function countOf(tx: Queryable, from: Sql): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`SELECT count(*) AS count FROM ${from}`)
  return Number(row?.count)
}
