// Reads the rows whose cells are counted: the place of each, and its values.
import { and, boundNames, ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { encodeStatement } from '../../../kernel/db/values.ts'
import { column, located } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import { movedSql } from '../../../query/filter/shape-sql.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan, PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Tile } from '../mvt/projection.ts'
import type { TileData } from '../source/tile-source-type.ts'
import { isLonLat } from '../sql/mercator-sql.ts'
import { conditionsOf } from '../sql/tile-sql.ts'
import type { CellRows } from './cell-job.ts'

type InSql = NonNullable<TileData['inSql']>

/** Rows around a tile, so many tiles beyond it. */
export type CellRegion = { readonly tile: Tile; readonly margin: number }

export type CellQuery = {
  readonly geometry: Attribute
  readonly attributes: readonly Attribute[]
  readonly where: Filter
  /** All rows where there is none. */
  readonly region?: CellRegion | undefined
}

type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal }

/** The statement that reads the rows in PostGIS: their longitudes, latitudes and values, as doubles. */
export function cellStatement({ relation: { from } }: InSql, query: CellQuery): Sql {
  const { geometry, attributes } = query
  const values = attributes.map((attribute, index) => sql`, (${column(attribute)})::float8 AS ${ident(`v${index}`)}`)
  const conditions = conditionsIn(from, query)
  // Reading two coordinates costs less than a subquery, which makes a point of a shape only once.
  if (geometry.isPoint && isLonLat(geometry)) {
    const point = located(geometry)
    return sql`SELECT ST_X(${point}), ST_Y(${point})${joinSql(values, '')} FROM ${from} AS q WHERE ${conditions}`
  }
  const moved = movedSql(geometry, column(geometry), 4326)
  const point = geometry.isPoint ? moved : sql`ST_PointOnSurface(${moved})`
  const names = attributes.map((_, index) => sql`, p.${ident(`v${index}`)}`)
  return sql`SELECT ST_X(p.point), ST_Y(p.point)${joinSql(names, '')}
    FROM (SELECT ${point} AS point${joinSql(values, '')} FROM ${from} AS q WHERE ${conditions} OFFSET 0) AS p`
}

function conditionsIn(from: Sql, { geometry, where, region }: CellQuery): Sql {
  if (!region) return isAll(where) ? raw('TRUE') : and([filterSql(where, column)])
  const { tile, margin } = region
  const isWrapped = geometry.period !== undefined
  return conditionsOf({
    tile,
    margin,
    from,
    geometry,
    where,
    isWrapped,
    isPoint: true,
    columns: [],
    order: [],
    limit: 0,
  })
}

const isAll = (where: Filter): boolean => where.kind === 'and' && where.filters.length === 0

/** Rows that are handed to a thread together. */
const rowsAtOnce = 20_000

/** The rows in one piece, which a thread reads for itself, or in several. */
export async function* cellRows(
  source: TileData,
  query: CellQuery,
  plan: Plan,
  limits: Limits,
): AsyncGenerator<CellRows> {
  const { inSql } = source
  if (!inSql) {
    const { batches } = await source.rows(placedPlan(plan, query), { geometry: 'geojson', srid: 4326 }, limits)
    for await (const cells of inPieces(batches)) yield { cells, place: 'geojson' }
    return
  }
  const { connection, isTrusted } = inSql
  const statement = cellStatement(inSql, query)
  const { server, settings = '' } = connection
  if (server) {
    const binary = Array.from({ length: query.attributes.length + 2 }, () => true)
    const demanded = connection.demandColumns?.(statement) ?? statement
    const encoded = { ...encodeStatement(demanded), binary, isUntrusted: !isTrusted }
    yield { server, settings, statement: encoded, names: boundNames(statement) }
    return
  }
  const { batches } = await connection.select(statement, { ...limits, isTrusted, isStream: true })
  for await (const cells of inPieces(batches)) yield { cells, place: 'lonlat' }
}

const plain = (attribute: Attribute): PlanColumn => ({ name: attribute.name, attribute, type: attribute.type })

const placedPlan = (plan: Plan, { geometry, attributes }: CellQuery): Plan => ({
  ...plan,
  columns: [geometry, ...attributes].map(plain),
})

async function* inPieces(batches: AsyncIterable<Cell[][]> | Iterable<Cell[][]>): AsyncGenerator<Cell[][]> {
  let piece: Cell[][] = []
  for await (const batch of batches) {
    for (const row of batch) {
      piece.push(row)
      if (piece.length < rowsAtOnce) continue
      yield piece
      piece = []
    }
  }
  // Also where there are none, so that there is a table.
  yield piece
}
