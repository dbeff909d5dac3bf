import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { TableEstimate } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { wrapExtent } from '../../../query/geometry/antimeridian.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { catalogOf, factsOfTable, isHeld, readCount, readList, roleOf } from './catalog.ts'
import { rowEstimate, tableName } from './introspect.ts'

/**
 * How many rows a table has and where, from what PostgreSQL keeps to plan queries: no row is read. Nothing of a table that the
 * application may not read, or not all of. In our own database tenants may not ask for statistics, which tell of all tables: we
 * ask, for those they may read.
 */
export async function estimateTable(
  connection: PostgresConnection,
  source: string,
  geometry: Attribute | undefined,
  options: SelectOptions,
): Promise<TableEstimate> {
  const { schema, name } = tableName(source, connection.schema)
  const role = roleOf(connection)
  const statement = sql`
    SELECT ${rowEstimate} AS rows, ${extentSql(geometry, schema, name)} AS extent, ${isIndexed(geometry)} AS indexed
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind IN ('r', 'm', 'p') AND NOT c.relrowsecurity
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_table_privilege(${role}, c.oid, 'SELECT')
      AND ${isHeld({ schema, name })}`
  const [row] = await factsOfTable(catalogOf(connection), { ...options, isTrusted: true }, statement)
  return readEstimate(row)
}

/** The statistics of geography are not in degrees, and those of mixed geometries in no system at all. */
function extentSql(geometry: Attribute | undefined, schema: string, name: string): Sql {
  if (!geometry || geometry.geography || geometry.mixed || geometry.isOutsideDegrees) return raw('NULL')
  const box = sql`ST_EstimatedExtent(${schema}, ${name}, ${geometry.name})::geometry`
  return sql`(
    SELECT json_build_array(ST_XMin(box), ST_YMin(box), ST_XMax(box), ST_YMax(box))::text
    FROM ST_Transform(ST_SetSRID(${box}, ${geometry.srid || 4326}::int4), 4326) AS box WHERE box IS NOT NULL)`
}

/** A BRIN index does not count: it finds ranges of pages, not rows. */
const isIndexed = (geometry: Attribute | undefined): Sql => sql`EXISTS (
  SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
  JOIN pg_catalog.pg_am m ON m.oid = x.relam
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
  WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND m.amname IN ('gist', 'spgist')
    AND a.attname = ${geometry?.name ?? ''})`

function readEstimate(row: Readonly<Record<string, string | null>> | undefined): TableEstimate {
  const { rows = null, extent = null, indexed = null } = row ?? {}
  return { rows: readCount(rows), extent: readExtent(extent), isIndexed: indexed === 't' }
}

/** Statistics reach a little beyond what they are of. */
function readExtent(text: string | null): number[] | null {
  const corners = readList(text)
  if (corners.length !== 4 || !corners.every(Number.isFinite)) return null
  const [west = 0, south = 0, east = 0, north = 0] = corners as number[]
  const box = wrapExtent({ west, south: Math.max(-90, south), east, north: Math.min(90, north) })
  return [box.west, box.south, box.east, box.north].map((degrees) => Number(degrees.toFixed(6)))
}
