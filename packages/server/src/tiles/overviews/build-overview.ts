// Builds overviews: for each low zoom, a table with the rows that are worth drawing in crowded tiles (a pyramid).
import type { Db, Queryable } from '../../db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../db/sql.ts'
import type { Attribute } from '../../query/attribute.ts'
import { located } from '../../query/postgres-sql.ts'
import { lockApplication } from '../../resource/lock-application.ts'
import { isLonLat, mercatorPlace } from '../mercator-sql.ts'
import { tileMargin } from '../tile-sql.ts'
import {
  copiedColumns,
  countColumn,
  keyOf,
  type OverviewDataset,
  type OwnTable,
  overviewFringe,
  overviewTable,
  sizeColumn,
  tileNumber,
} from './overview.ts'

export type Buildable = {
  readonly dataset: OverviewDataset
  readonly geometry: Attribute
  readonly isPoint: boolean
  readonly table: OwnTable
  /** The builder, as part of table names: a job and an upload may build for the same dataset at once. */
  readonly build: string
}

/** The contents of the staged tables. */
export type Staged = {
  readonly zooms: number[]
  readonly rowCounts: number[]
  /** The tiles made from these tables; see tileNumber. */
  readonly tiles: number[]
}

const half = 20037508.342789244
const tileMetres = (zoom: number): number => (2 * half) / 2 ** zoom

/** No overviews above this zoom, however dense the data. */
const maxZoom = 16
/** Each tile is divided into 2^7 × 2^7 cells; a cell shows one of the rows too small to be visible by themselves. */
const cellBits = 7
const gridBits = maxZoom + cellBits
/** The number of visible rows that a cell keeps. */
const largePerCell = 4

/** A tile with at most this much is made from the table itself. */
const enough = { rows: 10_000, vertices: 200_000 }

/** Builds the tables of an overview beside those in use. They hold only what lies in crowded tiles. */
export async function stageOverview(
  db: Db,
  { dataset, geometry, isPoint, table, build }: Buildable,
  minRows: number,
  signal: AbortSignal,
): Promise<Staged> {
  const staged: Staged = { zooms: [], rowCounts: [], tiles: [] }
  const key = keyOf(dataset)
  if (key === undefined) return staged
  const named = (part: string): Sql => ident(table.schema, overviewTable(dataset.id, `${build}_${part}`))
  const base = ident(table.schema, table.name)
  const step = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> => inStep(db, { dataset, signal }, work)

  const rows = await step((tx) => makeRows(tx, { base, key, geometry, isPoint, into: named('rows') }))
  if (rows < minRows) return staged
  for (let zoom = 0; zoom <= maxZoom; zoom++) {
    const level = { zoom, base, key, geometry, isPoint, columns: copiedColumns(dataset), named }
    const crowded = await step((tx) => makeCrowded(tx, level))
    if (crowded.length === 0) break
    staged.rowCounts.push(await step((tx) => makeTable(tx, level)))
    staged.zooms.push(zoom)
    staged.tiles.push(...crowded)
  }
  return staged
}

type Step = { readonly dataset: OverviewDataset; readonly signal: AbortSignal }

/**
 * Each step is its own transaction, so that no lock is held for long. CREATE TABLE AS locks the tables it reads and
 * then the schema, while deleting the application locks the schema first.
 */
async function inStep<T>(db: Db, { dataset, signal }: Step, work: (tx: Queryable) => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  return db.transaction(async (tx) => {
    await tx.script(
      `SET LOCAL statement_timeout = '15min'; SET LOCAL lock_timeout = '10s'; SET LOCAL work_mem = '64MB'`,
    )
    await lockApplication(tx, dataset.applicationId)
    return work(tx)
  })
}

type Rows = { base: Sql; key: string; geometry: Attribute; isPoint: boolean; into: Sql }

/** Each row's shape in web mercator and its box in metres; null if it cannot be placed. */
function placedRows(base: Sql, key: string, geometry: Attribute, isPoint: boolean): Sql {
  const value = located(geometry)
  const name = sql`q.${ident(key)} AS key`
  if (isPoint && isLonLat(geometry)) {
    const { x, y } = mercatorPlace(geometry)
    const isPlace = sql`ST_X(${value}) BETWEEN -540 AND 540 AND ST_Y(${value}) BETWEEN -1000 AND 1000`
    return sql`
      SELECT key, ST_SetSRID(ST_Point(x, y), 3857) AS shape, 1 AS vertices, x AS x0, y AS y0, x AS x1, y AS y1
      FROM (SELECT ${name}, ${x} AS x, ${y} AS y FROM ${base} AS q WHERE ${isPlace} ORDER BY key OFFSET 0) AS q`
  }
  // svc.to_mercator handles every reference system, but is slower.
  return sql`
    SELECT key, shape, ST_NPoints(shape) AS vertices,
      ST_XMin(box) AS x0, ST_YMin(box) AS y0, ST_XMax(box) AS x1, ST_YMax(box) AS y1
    FROM (SELECT key, shape, Box3D(shape) AS box
      FROM (SELECT ${name}, svc.to_mercator(${value}) AS shape FROM ${base} AS q OFFSET 0) AS q
      WHERE NOT ST_IsEmpty(shape) OFFSET 0) AS q`
}

/**
 * Every row once, the largest first: its key, its centre and corners in the finest grid, its size, and its shape in web
 * mercator.
 */
async function makeRows(tx: Queryable, { base, key, geometry, isPoint, into }: Rows): Promise<number> {
  // Clamped, so that coordinates far outside the map still fit an integer.
  const cell = (metres: string): Sql =>
    raw(`floor(greatest(-1e9, least(1e9, (${metres} + ${half}) / ${2 * half} * ${2 ** gridBits})))::int4`)
  await tx.query(sql`
    CREATE UNLOGGED TABLE ${into} AS
    SELECT row_number() OVER (ORDER BY ${raw(isPoint ? 'key' : 'size DESC, key')}) AS id, rows.* FROM (
      SELECT key, shape, vertices, ${cell('(x0 + x1) / 2')} AS cx, ${cell('(y0 + y1) / 2')} AS cy,
        ${cell('x0')} AS x0, ${cell('y0')} AS y0, ${cell('x1')} AS x1, ${cell('y1')} AS y1,
        greatest(x1 - x0, y1 - y0)::float4 AS size
      FROM (${placedRows(base, key, geometry, isPoint)}) AS q) AS rows`)
  await tx.query(sql`ALTER TABLE ${into} ADD PRIMARY KEY (id)`)
  await tx.query(sql`ANALYZE ${into}`)
  return countOf(tx, into)
}

type Level = {
  readonly zoom: number
  readonly base: Sql
  readonly key: string
  readonly geometry: Attribute
  readonly isPoint: boolean
  readonly columns: readonly string[]
  named(part: string): Sql
}

/** The tiles with too many rows or vertices; the parent of such a tile is always one too. */
async function makeCrowded(tx: Queryable, { zoom, named }: Level): Promise<number[]> {
  const into = named(`tiles_${zoom}`)
  const shift = raw(String(gridBits - zoom))
  await tx.query(sql`
    CREATE UNLOGGED TABLE ${into} AS
    SELECT cx >> ${shift} AS x, cy >> ${shift} AS y FROM ${named('rows')} GROUP BY 1, 2
    HAVING count(*) > ${raw(String(enough.rows))} OR sum(vertices) > ${raw(String(enough.vertices))}`)
  await tx.query(sql`ANALYZE ${into}`)
  const tiles = await tx.query<{ x: number; y: number }>(sql`SELECT x, y FROM ${into}`)
  // Cells outside the map belong to no tile.
  return tiles
    .map(({ x, y }) => ({ z: zoom, x, y: 2 ** zoom - 1 - y }))
    .filter(({ x, y }) => x >= 0 && y >= 0 && x < 2 ** zoom && y < 2 ** zoom)
    .map(tileNumber)
}

/** From what touches a crowded tile, picks for each cell the largest visible rows and one of the others. */
async function pickRows(tx: Queryable, { zoom, isPoint, named }: Level): Promise<void> {
  const into = named(`picked_${zoom}`)
  const metres = tileMetres(zoom)
  const cell = raw(`cx >> ${maxZoom - zoom}, cy >> ${maxZoom - zoom}`)
  const others = raw(String(largePerCell - 1))
  const visible = raw(`${metres / 256}::float4`)
  const fringe = tileMargin + overviewFringe
  // A box that is, with its fringe, no wider than a tile touches only the tiles of its corners.
  const crowded = (x: 0 | 1, y: 0 | 1): Sql => {
    const at = (axis: string, end: 0 | 1): string =>
      `(${axis}${end} ${end ? '+' : '-'} ${Math.ceil(fringe * 2 ** (gridBits - zoom))}) >> ${gridBits - zoom}`
    return sql`${raw(`(${at('x', x)}, ${at('y', y)})`)} IN (SELECT x, y FROM ${named(`tiles_${zoom}`)})`
  }
  const corners = [crowded(0, 0), crowded(0, 1), crowded(1, 0), crowded(1, 1)]
  const touching = sql`
    SELECT id, cx, cy, size FROM ${named('rows')}
    WHERE size > ${raw(String(metres * (1 - 2 * fringe)))} OR ${joinSql(corners, ' OR ')}`
  const oneOf = (rows: Sql): Sql => sql`SELECT min(id) AS id, count(*)::int4 AS n FROM ${rows} GROUP BY ${cell}`
  await tx.query(
    isPoint
      ? sql`CREATE UNLOGGED TABLE ${into} AS ${oneOf(sql`(${touching}) AS touching`)}`
      : sql`
    CREATE UNLOGGED TABLE ${into} AS
    WITH touching AS MATERIALIZED (${touching}),
    large AS (
      SELECT id, row_number() OVER (PARTITION BY ${cell} ORDER BY id) AS place, count(*) OVER (PARTITION BY ${cell}) AS n
      FROM touching WHERE size >= ${visible})
    SELECT id, CASE WHEN place = 1 THEN greatest(1, n - ${others}) ELSE 1 END::int4 AS n FROM large WHERE place <= 1 + ${others}
    UNION ALL ${oneOf(sql`touching WHERE size < ${visible}`)}`,
  )
  // The planner needs the new row counts.
  await tx.query(sql`ANALYZE ${into}`)
}

async function makeTable(tx: Queryable, level: Level): Promise<number> {
  const { zoom, base, key, geometry, isPoint, columns, named } = level
  await pickRows(tx, level)
  const into = named(`new_${zoom}`)
  const copied = columns.map((name) => sql`q.${ident(name)}, `)
  const tolerance = raw(String(tileMetres(zoom) / 2048))
  const simple = isPoint
    ? raw('r.shape')
    : sql`CASE WHEN r.vertices > 1 THEN svc.simplified(r.shape, ${tolerance}) ELSE r.shape END`
  const tile = (axis: string): Sql => raw(`(r.${axis} >> ${gridBits - zoom})::int8`)
  await tx.query(sql`
    CREATE TABLE ${into} AS
    SELECT ${joinSql(copied, '')}${simple}::geometry(Geometry, 3857) AS ${ident(geometry.name)},
      p.n AS ${ident(countColumn)}, r.size AS ${ident(sizeColumn)}
    FROM ${named(`picked_${zoom}`)} AS p JOIN ${named('rows')} AS r USING (id) JOIN ${base} AS q ON q.${ident(key)} = r.key
    ORDER BY ${tile('cx')} << 32 | ${tile('cy')}`)
  await tx.query(sql`DROP TABLE ${named(`picked_${zoom}`)}`)
  await tx.query(sql`CREATE INDEX ON ${into} USING gist (${ident(geometry.name)})`)
  await tx.query(sql`ANALYZE ${into}`)
  return countOf(tx, into)
}

async function countOf(tx: Queryable, table: Sql): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`SELECT count(*) AS count FROM ${table}`)
  return Number(row?.count)
}
