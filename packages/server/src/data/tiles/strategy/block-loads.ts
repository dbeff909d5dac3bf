// What the densest tiles of an engine's rows hold, estimated from a sample once for all tiles of the same rows. Rates follow from it.
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { DensestTiles } from '../thinning/densest-tiles.ts'
import { alwaysShown, highestThinned, ranks, type TileLoad, visibleWidth } from '../thinning/thinning-rule.ts'
import { squareOf } from './block-grid.ts'
import type { BlockQuery } from './block-query.ts'

/** Once for a version of a file, in the background if it has to be. */
const measureMs = 300_000
/** A tenth of the rows of a tile that just fits are enough to tell that it does. */
const sampleRows = 60_000
const fewRows = 20_000
const sizedRows = 5_000

/** Of each zoom one tile, the densest. */
export async function measureLoads(query: BlockQuery): Promise<DensestTiles> {
  const share = Math.min(1, sampleRows / (query.thinning.rows ?? 0))
  const few = await sampled(query, share)
  const isFew = share < 1 && (few[0] ?? []).reduce((sum, { rows }) => sum + rows * share, 0) < fewRows
  const densest = isFew ? await sampled(query, 1) : few
  return { loads: densest.map((load) => [load]), rowsIn: () => 0 }
}

async function sampled(query: BlockQuery, share: number): Promise<TileLoad[]> {
  const { grid, filter, rowsFrom, rank, isPoint } = query
  const bits = raw(String(highestThinned))
  const classes = isPoint ? raw('0') : sizeClassSql(raw('width'), raw('(1 << z)'))
  const counts = Array.from({ length: alwaysShown + 1 }, (_, size) =>
    raw(`coalesce(sum(n) FILTER (class = ${size}), 0)`),
  )
  // The densest tile is found by numbers alone: comparing lists takes ten times as long.
  const statement = sql`
    WITH drawn AS MATERIALIZED (
      SELECT ${squareOf(grid.x, highestThinned)} AS x, ${squareOf(grid.y, highestThinned)} AS y, ${grid.width} AS width
      FROM ${rowsFrom} AS q WHERE ${filter} AND ${rank} < ${raw(String(Math.round(share * ranks)))}),
    classed AS MATERIALIZED (
      SELECT z, x >> (${bits} - z) AS x, y >> (${bits} - z) AS y, ${classes} AS class, count(*) AS n
      FROM drawn, range(${bits} + 1) AS zooms(z) WHERE x IS NOT NULL AND y IS NOT NULL GROUP BY ALL),
    tiles AS (SELECT z, x, y, sum(n) AS total FROM classed GROUP BY z, x, y),
    densest AS (SELECT z, arg_max(x, total) AS x, arg_max(y, total) AS y FROM tiles GROUP BY z)
    SELECT z, to_json([${joinSql(counts, ', ')}])::VARCHAR FROM classed JOIN densest USING (z, x, y) GROUP BY z ORDER BY z`
  const [rows, bytes] = await Promise.all([cellsOf(query, statement), rowBytes(query)])
  return rows.map(([, loads]) =>
    (JSON.parse(loads ?? '[]') as number[]).map((n) => ({ rows: n / share, bytes: (n / share) * bytes })),
  )
}

/** What a feature takes besides its values: tags and lengths, its shape, svc_count. */
const featureBytes = 24
/** A number of the table of keys and one of the table of values. */
const tagBytes = 3

/** Equal values are stored once in a tile, so the more are the same, the less they take. */
async function rowBytes(query: BlockQuery): Promise<number> {
  const { filter, rowsFrom, rank, values, isPoint } = query
  const share = Math.min(1, sizedRows / (query.thinning.rows ?? sizedRows))
  const [geometry, ...others] = values
  const one = (value: Sql): Sql =>
    sql`coalesce(${raw(String(tagBytes))} + avg(least(octet_length(encode((${value})::VARCHAR)), 10000)) * count(DISTINCT left((${value})::VARCHAR, 200)) / count(*), 0)`
  // A simplified shape keeps some of its corners, and each takes about three bytes.
  const shape = isPoint
    ? raw('0')
    : sql`coalesce(avg(least(octet_length(ST_AsWKB(${geometry ?? raw('NULL')})) * 3 / 16, 120)), 0)`
  const statement = sql`
    SELECT (${joinSql([raw(String(featureBytes)), shape, ...others.map(one)], ' + ')})::DOUBLE FROM (
      SELECT * FROM ${rowsFrom} AS q WHERE ${filter} AND ${rank} < ${raw(String(Math.round(share * ranks)))} LIMIT ${sizedRows}) AS q`
  const [[bytes] = []] = await cellsOf(query, statement)
  return Number(bytes ?? featureBytes)
}

async function cellsOf({ source }: BlockQuery, statement: Sql): Promise<readonly (string | null)[][]> {
  const { batches } = await source.connection.select(statement, { timeoutMs: measureMs })
  return (await Array.fromAsync(batches)).flat()
}

/** The size class of a width in worlds, where the world has so many tiles each way. */
export function sizeClassSql(width: Sql, tiles: Sql): Sql {
  const visible = sql`(${width} * ${tiles} * ${raw(String(1 / visibleWidth))})`
  return sql`(CASE WHEN ${visible} >= 1 THEN least(${raw(String(alwaysShown))}, 1 + floor(log2(${visible}))) ELSE 0 END)::INTEGER`
}
