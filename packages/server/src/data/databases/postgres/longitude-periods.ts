// Which geometry columns can hold longitudes beyond ±180 degrees.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { Periods } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { catalogOf, facts, factsOfTable, isHeld } from './catalog.ts'
import { type TableName, tableName } from './introspect.ts'

/**
 * The root of a GiST index has the box of all rows, those of this moment included, so one page tells that all of them lie within ±180:
 * then queries are written as if there was nothing beyond. A table without such an index, a view or a query may hold anything.
 */
export async function longitudePeriods(
  connection: PostgresConnection,
  source: string | undefined,
  geometries: readonly Attribute[],
  options: SelectOptions,
): Promise<Periods> {
  const asked = geometries.filter(({ geography }) => !geography)
  const isKnown = source === undefined && asked.every(({ srid }) => !srid || srid === 4326)
  if (asked.length === 0 || isKnown) return {}
  const catalog = catalogOf(connection)
  const trusted = { ...options, isTrusted: true }
  const within =
    source === undefined
      ? []
      : await factsOfTable(catalog, trusted, withExtents(asked, tableName(source, connection.schema)))
  const rows = within.length > 0 ? within : await facts(catalog, trusted, withoutExtents(asked))
  return Object.fromEntries(
    rows.map(({ name: column, period, within }) => [column, within === 't' ? null : readPeriod(period)]),
  )
}

/** Nothing where a server says what PostGIS would not. */
function readPeriod(text: string | null | undefined): number | null {
  const period = Number(text ?? 0)
  return Number.isFinite(period) && period > 0 ? period : null
}

const attributesSql = (asked: readonly Attribute[]): Sql => sql`(
  SELECT * FROM unnest(${asked.map((one) => one.name)}::text[], ${asked.map(({ srid }) => srid || 4326)}::int4[]) AS a (name, srid))`

const withoutExtents = (asked: readonly Attribute[]): Sql => sql`
  SELECT asked.name, period, NULL AS within
  FROM ${attributesSql(asked)} AS asked LEFT JOIN LATERAL (${periodOf(sql`asked.srid`)}) AS systems ON true`

/** Not of partitions of partitions, which could be dropped meanwhile (isHeld). */
const withExtents = (asked: readonly Attribute[], table: TableName): Sql => sql`
  WITH asked AS ${attributesSql(asked)},
  tables AS (
    SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${table.schema} AND c.relname = ${table.name} AND ${isHeld(table)}),
  leaves AS (
    SELECT relid::oid AS oid, level FROM tables, pg_catalog.pg_partition_tree(tables.oid) WHERE isleaf
    UNION SELECT oid, 0 FROM tables JOIN pg_catalog.pg_class c USING (oid) WHERE c.relkind <> 'p')
  SELECT asked.name, period, (
      SELECT bool_and(coalesce(CASE WHEN level <= 1 THEN ${extentEnds(sql`leaves.oid`)} END, false)) FROM leaves) AS within
  FROM asked LEFT JOIN LATERAL (${periodOf(sql`asked.srid`)}) AS systems ON true`

/** In the units of the system; none in a system that does not go round the earth. */
const periodOf = (srid: Sql): Sql => sql`
  SELECT CASE WHEN s.proj4text ~ '\\+proj=longlat\\M' THEN 360.0 WHEN s.srid IN (${mercator}) THEN 40075016.685578488 END AS period
  FROM spatial_ref_sys s WHERE s.srid = ${srid}`
const mercator = raw('3857, 900913, 3785, 102100, 102113')

/**
 * Whether the index ends within the world; null where that is not known, as without rows. Its numbers are floats, rounded outwards: by
 * nothing at 180, by two metres at the edges of web mercator. A partial index has not all rows, nor has one that is not valid; the index of
 * a table that others inherit from has not theirs.
 */
const extentEnds = (oid: Sql): Sql => sql`CASE WHEN EXISTS (
    SELECT FROM pg_catalog.pg_class c WHERE c.oid = ${oid} AND c.relkind IN ('r', 'm') AND NOT c.relhassubclass)
  AND (
    SELECT bool_and(i.indisvalid AND i.indpred IS NULL) FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = ${oid} AND m.amname = 'gist' AND a.attname = asked.name)
  THEN (
    SELECT ST_XMin(box) >= -edge AND ST_XMax(box) <= edge
    FROM (SELECT _postgis_index_extent(${oid}::regclass, asked.name)::box2d AS box,
      CASE WHEN period > 360 THEN period / 2 + 4 ELSE period / 2 END AS edge OFFSET 0) AS index_box) END`
