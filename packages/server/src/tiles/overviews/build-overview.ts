import type { Db, Queryable } from '../../db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../db/sql.ts'
import type { Attribute } from '../../query/attribute.ts'
import { located } from '../../query/plan-sql.ts'
import type { TileDataset } from '../known-sources.ts'
import { isLonLat, mercatorPlace } from '../mercator-sql.ts'
import { tileMargin } from '../tile-sql.ts'
import {
  copiedColumns,
  countColumn,
  keyOf,
  type OwnTable,
  overviewFringe,
  overviewTable,
  sizeColumn,
  tileNumber,
} from './overview.ts'

export type Buildable = {
  readonly dataset: TileDataset
  readonly geometry: Attribute
  readonly isPoint: boolean
  readonly table: OwnTable
}

/** What the tables that are ready to take their places hold. */
export type Staged = {
  readonly zooms: number[]
  readonly rowCounts: number[]
  /** The tiles that are made of them; see tileNumber. */
  readonly tiles: number[]
}

const half = 20037508.342789244
const tileMetres = (zoom: number): number => (2 * half) / 2 ** zoom

/** Above this zoom there is no overview, whatever lies in one place. */
const maxZoom = 16
/** Cells to each side of a tile, of which each shows one of the rows that are too small to be seen for themselves. */
const cellBits = 7
const gridBits = maxZoom + cellBits
/** As many of those that can be seen begin to have room in a cell beside each other. */
const largePerCell = 4

/** A tile with no more than this is made of the table itself. */
const enough = { rows: 10_000, vertices: 200_000 }

/** Makes the tables of an overview beside those that are in use. Only what lies in crowded tiles is in them. */
export async function stageOverview(
  db: Db,
  { dataset, geometry, isPoint, table }: Buildable,
  minRows: number,
  signal: AbortSignal,
): Promise<Staged> {
  const staged: Staged = { zooms: [], rowCounts: [], tiles: [] }
  const key = keyOf(dataset)
  if (key === undefined) return staged
  const named = (part: string | number): Sql => ident(table.schema, overviewTable(dataset.id, part))
  const base = ident(table.schema, table.name)
  const step = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> => inStep(db, signal, work)

  const rows = await step((tx) => makeRows(tx, { base, key, geometry, isPoint, into: named('rows') }))
  if (rows < minRows) return staged
  for (let zoom = 0; zoom <= maxZoom; zoom++) {
    const level = { zoom, base, key, geometry, columns: copiedColumns(dataset), named }
    const crowded = await step((tx) => makeCrowded(tx, level))
    if (crowded.length === 0) break
    staged.rowCounts.push(await step((tx) => makeTable(tx, level)))
    staged.zooms.push(zoom)
    staged.tiles.push(...crowded)
  }
  return staged
}

/** Each step is a transaction of its own, so that nothing is held for long. */
async function inStep<T>(db: Db, signal: AbortSignal, work: (tx: Queryable) => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  return db.transaction(async (tx) => {
    await tx.script(
      `SET LOCAL statement_timeout = '15min'; SET LOCAL lock_timeout = '10s'; SET LOCAL work_mem = '64MB'`,
    )
    return work(tx)
  })
}

type Rows = { base: Sql; key: string; geometry: Attribute; isPoint: boolean; into: Sql }

/** The function can read everything, which takes its time. */
function mercatorShape(geometry: Attribute, isPoint: boolean): Sql {
  const value = located(geometry)
  if (!isPoint || !isLonLat(geometry)) return sql`svc.to_mercator(${value})`
  const { x, y } = mercatorPlace(geometry)
  return sql`CASE WHEN ST_X(${value}) BETWEEN -540 AND 540 AND ST_Y(${value}) BETWEEN -1000 AND 1000
    THEN ST_SetSRID(ST_Point(${x}, ${y}), 3857) END`
}

/** Every row once, the largest first: what it is called, where it is in the finest grid, how large, and its shape in web mercator. */
async function makeRows(tx: Queryable, { base, key, geometry, isPoint, into }: Rows): Promise<number> {
  const cell = (low: string, high: string): Sql =>
    raw(`floor(((${low}(shape) + ${high}(shape)) / 2 + ${half}) / ${2 * half} * ${2 ** gridBits})::int4`)
  await tx.query(sql`
    CREATE UNLOGGED TABLE ${into} AS
    SELECT row_number() OVER (ORDER BY size DESC, key) AS id, rows.* FROM (
      SELECT key, shape, ${cell('ST_XMin', 'ST_XMax')} AS cx, ${cell('ST_YMin', 'ST_YMax')} AS cy,
        ST_NPoints(shape) AS vertices,
        greatest(ST_XMax(shape) - ST_XMin(shape), ST_YMax(shape) - ST_YMin(shape))::float4 AS size
      FROM (SELECT q.${ident(key)} AS key, ${mercatorShape(geometry, isPoint)} AS shape FROM ${base} AS q OFFSET 0) AS q
      WHERE NOT ST_IsEmpty(shape)) AS rows`)
  await tx.query(sql`ALTER TABLE ${into} ADD PRIMARY KEY (id)`)
  await tx.query(sql`ANALYZE ${into}`)
  return countOf(tx, into)
}

type Level = {
  readonly zoom: number
  readonly base: Sql
  readonly key: string
  readonly geometry: Attribute
  readonly columns: readonly string[]
  named(part: string | number): Sql
}

/** The tiles that hold too much; above a tile that does there is always another. */
async function makeCrowded(tx: Queryable, { zoom, named }: Level): Promise<number[]> {
  const into = named(`tiles_${zoom}`)
  const shift = raw(String(gridBits - zoom))
  await tx.query(sql`
    CREATE UNLOGGED TABLE ${into} AS
    SELECT cx >> ${shift} AS x, cy >> ${shift} AS y FROM ${named('rows')} GROUP BY 1, 2
    HAVING count(*) > ${raw(String(enough.rows))} OR sum(vertices) > ${raw(String(enough.vertices))}`)
  await tx.query(sql`ANALYZE ${into}`)
  const tiles = await tx.query<{ x: number; y: number }>(sql`SELECT x, y FROM ${into}`)
  // What lies beyond the map is never in a tile of it.
  return tiles
    .map(({ x, y }) => ({ z: zoom, x, y: 2 ** zoom - 1 - y }))
    .filter(({ x, y }) => x >= 0 && y >= 0 && x < 2 ** zoom && y < 2 ** zoom)
    .map(tileNumber)
}

/** Of what touches a crowded tile: the largest in each cell that can be seen for themselves, and one of the others. */
async function makeTable(tx: Queryable, { zoom, base, key, geometry, columns, named }: Level): Promise<number> {
  const into = named(`new_${zoom}`)
  const metres = tileMetres(zoom)
  const cell = raw(`cx >> ${maxZoom - zoom}, cy >> ${maxZoom - zoom}`)
  const others = raw(String(largePerCell - 1))
  const visible = raw(`${metres / 256}::float4`)
  const fringe = metres * (tileMargin + overviewFringe)
  // With its fringe no wider than a tile, a box is in the tiles of its corners and in no other.
  const crowded = (x: string, y: string): Sql => {
    const at = (edge: string, sign: string): string =>
      `floor((${edge}(shape) ${sign} ${fringe} + ${half}) / ${metres})::int4`
    const corner = raw(`(${at(`ST_X${x}`, x === 'Min' ? '-' : '+')}, ${at(`ST_Y${y}`, y === 'Min' ? '-' : '+')})`)
    return sql`${corner} IN (SELECT x, y FROM ${named(`tiles_${zoom}`)})`
  }
  const corners = [crowded('Min', 'Min'), crowded('Min', 'Max'), crowded('Max', 'Min'), crowded('Max', 'Max')]
  const copied = columns.map((name) => sql`q.${ident(name)}, `)
  const simple = sql`CASE WHEN r.vertices > 1 THEN svc.simplified(r.shape, ${raw(String(metres / 2048))}) ELSE r.shape END`
  await tx.query(sql`
    CREATE TABLE ${into} AS
    WITH touching AS MATERIALIZED (
      SELECT id, cx, cy, size FROM ${named('rows')}
      WHERE size > ${raw(String(metres - 2 * fringe))} OR ${joinSql(corners, ' OR ')}),
    large AS (
      SELECT id, row_number() OVER (PARTITION BY ${cell} ORDER BY id) AS place, count(*) OVER (PARTITION BY ${cell}) AS n
      FROM touching WHERE size >= ${visible}),
    picked AS (
      SELECT id, CASE WHEN place = 1 THEN greatest(1, n - ${others}) ELSE 1 END::int4 AS n FROM large WHERE place <= 1 + ${others}
      UNION ALL SELECT min(id), count(*)::int4 FROM touching WHERE size < ${visible} GROUP BY ${cell})
    SELECT ${joinSql(copied, '')}${simple}::geometry(Geometry, 3857) AS ${ident(geometry.name)},
      p.n AS ${ident(countColumn)}, r.size AS ${ident(sizeColumn)}
    FROM picked AS p JOIN ${named('rows')} AS r USING (id) JOIN ${base} AS q ON q.${ident(key)} = r.key
    ORDER BY r.cx >> ${raw(String(gridBits - zoom))}, r.cy >> ${raw(String(gridBits - zoom))}, r.id`)
  await tx.query(sql`CREATE INDEX ON ${into} USING gist (${ident(geometry.name)})`)
  await tx.query(sql`ANALYZE ${into}`)
  return countOf(tx, into)
}

async function countOf(tx: Queryable, table: Sql): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`SELECT count(*) AS count FROM ${table}`)
  return Number(row?.count)
}
