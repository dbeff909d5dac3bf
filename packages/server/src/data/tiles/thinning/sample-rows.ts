/**
 * What the densest tiles of each zoom hold of a table without an overview, or with a filter: from a sample of its rows. The tile at
 * hand plays no part in it.
 */
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import { unitInMetres } from '../source/tile-bounds.ts'
import type { TileData } from '../source/tile-source-type.ts'
import { stored, type TileQuery } from '../sql/tile-sql.ts'
import { type Corners, cellAt, cornersOf, hasCells, widthOf } from './corners-sql.ts'
import type { DensestTiles } from './densest-tiles.ts'
import { rowBytesSql, shapeBytes } from './row-bytes.ts'
import { alwaysShown, highestThinned, type TileLoad, visibleWidth } from './thinning-rule.ts'

type InSql = NonNullable<TileData['inSql']>

/** Rows that are read: as many as an index finds in a moment, and fewer where each has to be transformed. */
const sampledRows = { plain: 10_000, transformed: 4_000 }
/** Rows whose lengths are measured. */
const measuredRows = 2_000
const timeoutMs = 5_000
const seed = 2
/** Estimates for tiles with fewer rows say too little. */
const few = 10_000

/** A table that cannot be sampled is shown as it is. */
export const sampleOf = (rows: number, inSql: InSql, query: TileQuery): Promise<DensestTiles> =>
  readSample(rows, inSql, query).then(densestOf, () => ({ loads: [], rowsIn: () => 0 }))

/** Of the sampled rows those of one tile of the highest zoom and of one size: how many there are, and those of the filter. */
type Group = {
  readonly x: number
  readonly y: number
  readonly size: number
  read: number
  rows: number
  corners: number
}

type RowSample = { readonly groups: readonly Group[]; readonly rowBytes: number }

async function readSample(tableRows: number, inSql: InSql, query: TileQuery): Promise<RowSample> {
  const wanted = hasCells(query, query.isPoint) ? sampledRows.plain : sampledRows.transformed
  const share = Math.min(1, wanted / tableRows)
  const [groups, lengths] = await Promise.all([
    select(inSql, groupsSql(query, share)),
    select(inSql, bytesSql(query, share)),
  ])
  const [rowBytes = 0] = lengths[0] ?? []
  return {
    groups: groups.map(([x = 0, y = 0, size = 0, read = 0, rows = 0, corners = 0]) => ({
      x,
      y,
      size,
      read: read / share,
      rows: rows / share,
      corners: corners / share,
    })),
    rowBytes,
  }
}

async function select({ connection, isTrusted }: InSql, statement: Sql): Promise<number[][]> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { batches } = await connection.select(statement, { timeoutMs, signal, isTrusted })
  return (await Array.fromAsync(batches)).flat().map((row) => row.map(Number))
}

const someOf = ({ from }: TileQuery, share: number): Sql =>
  share < 1
    ? sql`${from} AS q TABLESAMPLE SYSTEM (${100 * share}::float4) REPEATABLE (${raw(String(seed))})`
    : sql`${from} AS q`

const isFiltered = ({ where }: TileQuery): boolean => where.kind !== 'and' || where.filters.length > 0

const matches = (query: TileQuery): Sql => (isFiltered(query) ? filterSql(query.where, column) : raw('TRUE'))

function groupsSql(query: TileQuery, share: number): Sql {
  const { geometry, isPoint } = query
  const { x0, y0, x1, y1 } = cornersOf(geometry, isPoint)
  const names: Corners = { x0: raw('x0'), y0: raw('y0'), x1: raw('x1'), y1: raw('y1') }
  const at = (from: string, to: string): Sql => cellAt(highestThinned, raw(`(${from} + ${to}) / 2`), 0)
  const least = raw(String(unitInMetres(highestThinned, 1) * visibleWidth))
  const size = isPoint
    ? raw('0')
    : sql`CASE WHEN ${widthOf(names)} >= ${least} THEN 1 + floor(ln(${widthOf(names)} / ${least}) / ln(2)) ELSE 0 END`
  const corners = isPoint ? raw('0') : sql`ST_NPoints(${stored(geometry)})`
  return sql`
    SELECT ${at('x0', 'x1')}, ${at('y0', 'y1')}, ${size}, count(*), count(*) FILTER (WHERE is_wanted),
      coalesce(sum(corners) FILTER (WHERE is_wanted), 0)
    FROM (SELECT ${x0} AS x0, ${y0} AS y0, ${x1} AS x1, ${y1} AS y1, ${corners} AS corners, ${matches(query)} AS is_wanted
      FROM ${someOf(query, share)} OFFSET 0) AS places
    WHERE x0 IS NOT NULL AND y0 IS NOT NULL GROUP BY 1, 2, 3`
}

function bytesSql(query: TileQuery, share: number): Sql {
  const values = query.columns.map(({ value }, at) => sql`${value} AS ${raw(`c${at}`)}`)
  const names = query.columns.map((_, at) => raw(`c${at}`))
  if (values.length === 0) return sql`SELECT ${rowBytesSql([])}`
  return sql`
    SELECT ${rowBytesSql(names)} FROM (
      SELECT ${joinSql(values, ', ')} FROM ${someOf(query, share)} WHERE ${matches(query)} LIMIT ${raw(String(measuredRows))}) AS rows`
}

/** A tile of a zoom: what is in it, by size. */
type Crowd = { readonly x: number; readonly y: number; read: number; weight: number; readonly parts: Group[] }

/** Of each zoom so many of the fullest tiles are looked at. */
const looked = 20

function densestOf({ groups, rowBytes }: RowSample): DensestTiles {
  const loads: TileLoad[][] = []
  const crowds = new Map<string, number>()
  let level = crowdsOf(groups, 0)
  for (let zoom = highestThinned; zoom >= 0; zoom--) {
    const fullest = [...level].sort((a, b) => b.weight - a.weight).slice(0, looked)
    loads[zoom] = fullest.map(({ parts }) => loadOf(parts, zoom, rowBytes))
    for (const { x, y, read } of level) if (read > few) crowds.set(`${zoom}/${x}/${2 ** zoom - 1 - y}`, read)
    level = crowdsOf(
      level.flatMap(({ parts }) => parts),
      1,
    )
  }
  return { loads, rowsIn: ({ z, x, y }) => crowds.get(`${z}/${x}/${y}`) ?? 0 }
}

/** A corner of a shape counts as a twentieth of a row. */
const weightOf = ({ rows, corners }: Group): number => rows + corners / 20

/** The tiles of the groups, or of the zoom below with a shift of 1. */
function crowdsOf(groups: readonly Group[], shift: 0 | 1): Crowd[] {
  const crowds = new Map<number, Crowd>()
  for (const group of groups) {
    const [x, y] = [group.x >> shift, group.y >> shift]
    const key = y * 2 ** highestThinned + x
    let crowd = crowds.get(key)
    if (!crowd) {
      crowd = { x, y, read: 0, weight: 0, parts: [] }
      crowds.set(key, crowd)
    }
    crowd.read += group.read
    crowd.weight += weightOf(group)
    const part = crowd.parts.find(({ size }) => size === group.size)
    if (!part) crowd.parts.push({ ...group, x, y })
    else {
      part.read += group.read
      part.rows += group.rows
      part.corners += group.corners
    }
  }
  return [...crowds.values()]
}

/** Sizes are those at the highest zoom, less by one at each lower zoom. */
function loadOf(parts: readonly Group[], zoom: number, rowBytes: number): TileLoad {
  const load = Array.from({ length: alwaysShown + 1 }, () => ({ rows: 0, bytes: 0 }))
  for (const { size, rows, corners } of parts) {
    const at = Math.max(0, Math.min(alwaysShown, size - (highestThinned - zoom)))
    const part = load[at]
    if (!part || rows === 0) continue
    part.rows += rows
    part.bytes += rows * (rowBytes + shapeBytes(at, corners / rows))
  }
  return load
}
