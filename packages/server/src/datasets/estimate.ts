import { raw, type Sql, sql } from '../db/sql.ts'
import { attributesOf } from './attribute-dto.ts'
import { tableName } from './introspect.ts'
import type { Dataset } from './sources.ts'

/** About how many rows there are, and where: west, south, east, north in degrees. Null where that is not known. */
export type Estimate = { readonly rows: number | null; readonly extent: readonly number[] | null }

/**
 * `rows` and `extent` of a table, from what its database keeps to plan queries: no row is read. Nothing of a table that
 * the role may not read, or not all of.
 */
export function estimateSql(dataset: Dataset, ownSchema: string, role: Sql): Sql {
  const { schema, name } = tableName(dataset.source, ownSchema)
  return sql`
    SELECT (SELECT CASE WHEN min(p.reltuples) >= 0 THEN sum(p.reltuples::float8) END FROM pg_catalog.pg_class p
            WHERE p.oid = c.oid AND c.relkind <> 'p'
               OR p.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf)) AS rows,
           ${extentSql(dataset, schema, name)} AS extent
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind IN ('r', 'm', 'p') AND NOT c.relrowsecurity
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_table_privilege(${role}, c.oid, 'SELECT')`
}

/** The statistics of geography are not in degrees, and those of mixed geometries in no system at all. */
function extentSql(dataset: Dataset, schema: string, name: string): Sql {
  const geometry = [...attributesOf(dataset).values()].find(({ type }) => type === 'geometry')
  if (!geometry || geometry.geography || geometry.mixed) return raw('NULL')
  const box = sql`ST_EstimatedExtent(${schema}, ${name}, ${geometry.name})::geometry`
  return sql`(
    SELECT json_build_array(ST_XMin(box), ST_YMin(box), ST_XMax(box), ST_YMax(box))::text
    FROM ST_Transform(ST_SetSRID(${box}, ${geometry.srid || 4326}::int4), 4326) AS box WHERE box IS NOT NULL)`
}

/** What `estimateSql` answered. Statistics reach a little beyond what they are of. */
export function readEstimate(row: Readonly<Record<string, unknown>> | undefined): Estimate {
  const { rows = null, extent = null } = row ?? {}
  const [west = 0, south = 0, east = 0, north = 0] = extent === null ? [] : (JSON.parse(String(extent)) as number[])
  const corners = [west, Math.max(-90, south), east, Math.min(90, north)].map((degrees) => Number(degrees.toFixed(6)))
  return { rows: rows === null ? null : Number(rows), extent: extent === null ? null : corners }
}
