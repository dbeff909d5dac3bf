// What geometry columns hold: by their types, and by their first values where the types do not say.
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { ColumnFact, GeometryFact } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { type Cells, facts, readCount } from './catalog.ts'
import { isStated } from './server-reason.ts'

/** A geometry column need not say what is in it: then its first values do. */
export async function sampled(
  connection: PostgresConnection,
  options: SelectOptions,
  from: Sql,
  columns: readonly ColumnFact[],
): Promise<ColumnFact[]> {
  return Promise.all(
    columns.map(async (column) => {
      const { geometry, name } = column
      if (!geometry || (geometry.srid !== 0 && geometry.type !== 'Geometry')) return column
      const look = (limit: number, timeoutMs: number | undefined): Promise<Cells[]> =>
        facts(connection, { ...options, ...(timeoutMs && { timeoutMs }) }, systemsSql(from, name, limit))
      const rows = await look(sampledRows, sampleMs)
        .catch((error) => {
          if (!(error instanceof ApiError && error.code === 'query_timeout')) throw error
          return look(1, options.timeoutMs)
        })
        .catch(unlessUnreadable)
      return { ...column, geometry: withSystems(geometry, rows) }
    }),
  )
}

/** A dataset can be made of a table that cannot be read yet, such as a materialized view without data: each read says why. */
function unlessUnreadable(error: unknown): Cells[] {
  if (error instanceof ApiError && error.code === 'upstream_failed' && isStated(error.cause)) return []
  throw error
}

const sampledRows = 100
/** Of a slow query the first value must do. */
const sampleMs = 2_000

/** The systems of the first values: those that are known first, and of these the most frequent. Longitudes may go from 0 to 360. */
const systemsSql = (from: Sql, name: string, limit: number): Sql => sql`SELECT * FROM (
  SELECT ST_SRID(shape) AS srid, max(ST_CoordDim(shape)) AS dimension, count(*) AS rows,
         count(*) FILTER (WHERE NOT (shape @ ST_MakeEnvelope(-360, -90, 360, 90) OR ST_IsEmpty(shape))) AS outside
  FROM (SELECT q.${ident(name)}::geometry AS shape FROM ${from} AS q
        WHERE q.${ident(name)} IS NOT NULL LIMIT ${raw(String(limit))}) AS first_values
  GROUP BY 1) AS systems
  ORDER BY EXISTS (SELECT FROM spatial_ref_sys AS s WHERE s.srid = systems.srid) DESC, systems.rows DESC, systems.srid`

function withSystems(geometry: GeometryFact, rows: readonly Cells[]): GeometryFact {
  const [first] = rows
  if (!first) return geometry
  const srid = geometry.srid || (readCount(first.srid) ?? 0)
  const isOutsideDegrees = geometry.srid === 0 && areOutsideDegrees(rows)
  return {
    ...geometry,
    srid,
    dimension: Math.max(...rows.map(({ dimension }) => readCount(dimension) ?? 2)),
    ...(rows.length > 1 && { hasSystems: true }),
    ...(isOutsideDegrees && { isOutsideDegrees }),
  }
}

/** Most values have no system, and most of these are no longitudes and latitudes. */
function areOutsideDegrees(rows: readonly Cells[]): boolean {
  const zero = rows.find(({ srid }) => Number(srid) === 0)
  const all = rows.reduce((sum, { rows: some }) => sum + Number(some), 0)
  return zero !== undefined && Number(zero.rows) * 2 > all && Number(zero.outside) * 2 > Number(zero.rows)
}

const geometryTypes =
  'Geometry Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection'.split(' ')

/** PostGIS packs type, reference system and dimension into the type's modifier. */
export function geometryOf(dbType: string, modifier: number): Pick<ColumnFact, 'geometry'> {
  if (!/^(public\.)?geo(metry|graphy)(\([^)]*\))?$/.test(dbType)) return {}
  const isGeography = dbType.includes('geography')
  if (modifier < 0) return { geometry: { type: 'Geometry', srid: isGeography ? 4326 : 0, dimension: 2 } }
  const srid = ((modifier & 0x0fffff00) - (modifier & 0x10000000)) >> 8
  const dimension = 2 + ((modifier >> 1) & 1) + (modifier & 1)
  return { geometry: { type: geometryTypes[(modifier & 0xfc) >> 2] ?? 'Geometry', srid, dimension } }
}
