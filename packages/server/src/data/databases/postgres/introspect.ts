import { retry } from '../../../kernel/concurrency/retry.ts'
import { isTableChanged } from '../../../kernel/db/database-error.ts'
import { fitsIdentifier, maxIdentifierBytes } from '../../../kernel/db/identifier.ts'
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { didYouMean, shortList } from '../../../kernel/nearest-name.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { ColumnFact, ColumnName, InspectOptions, TableFact } from '../../../query/execution/introspection.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { overviewPrefix } from '../tenant-schema.ts'
import { type Cells, catalogOf, facts, readCount, roleOf } from './catalog.ts'
import { typeOfColumn } from './column-type.ts'
import { defaultColumns, defaultOf } from './default-facts.ts'
import { geometryOf, sampled } from './geometry-facts.ts'
import { isClosedSchema } from './tenant-sql/sql-names.ts'
import type { NamedRelation } from './tenant-sql/sql-relations.ts'

/** A column was dropped between two statements that describe its table. */
const whileChanged = {
  tries: 3,
  isPassing: (error: unknown): boolean => error instanceof ApiError && isTableChanged(error.cause),
}

/** A table, view, materialised view, partitioned or foreign table, by `name` or `schema.name`. */
export const describeTable = (
  connection: PostgresConnection,
  source: string,
  options: InspectOptions,
): Promise<TableFact> => retry(() => describeNow(connection, source, options), whileChanged)

/** Compares names as texts: as a `name` one that is too long would be cut, and be that of another table. */
async function describeNow(
  connection: PostgresConnection,
  source: string,
  options: InspectOptions,
): Promise<TableFact> {
  const { schema, name } = readableName(source, connection.schema)
  const role = roleOf(connection)
  const [table] = await facts(
    catalogOf(connection),
    options,
    sql`
    SELECT c.oid, c.relkind, (SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_partition_tree(c.oid)) AS parts,
           pg_total_relation_size(c.oid) AS bytes,
           CASE WHEN c.relkind <> 'v' AND NOT c.relrowsecurity THEN ${rowEstimate} END AS rows
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema}::text AND c.relname = ${name}::text AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND ${isNoOverview(connection)}
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_any_column_privilege(${role}, c.oid, 'SELECT')`,
  )
  if (!table) {
    await demandRight(connection, { schema, name }, options)
    const isCut = ![schema, name].every(fitsIdentifier)
    const suggestion = isCut ? tooLong : await suggestedTables(connection, { schema, name }, options)
    throw absent(source, suggestion)
  }
  const from = ident(schema, name)
  const rows = await facts(
    catalogOf(connection),
    options,
    sql`
    SELECT a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, a.atttypmod AS modifier,
           base.type AS base, base.modifier AS "baseModifier", NOT a.attnotnull AS nullable, coalesce(pg_catalog.col_description(a.attrelid, a.attnum), '') AS description,
           ${defaultColumns},
           EXISTS (SELECT FROM pg_catalog.pg_index i
                   WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey)
                     AND NOT EXISTS (SELECT FROM unnest(i.indkey) AS part (number)
                                     WHERE NOT has_column_privilege(${role}, i.indrelid, part.number, 'SELECT'))) AS key
    FROM pg_catalog.pg_attribute a LEFT JOIN LATERAL ${baseTypeOf(raw('a.atttypid'))} AS base ON TRUE
    WHERE a.attrelid = ${Number(table.oid)}::oid AND ${isReadable(role)} ORDER BY a.attnum`,
  )
  const columns = rows.map((row) => ({
    name: row.name ?? '',
    ...typeFacts(row),
    nullable: row.nullable === 't',
    primaryKey: row.key === 't',
    description: row.description ?? '',
    ...defaultOf(row),
  }))
  return {
    columns: await sampled(connection, { ...options, isTrusted: true }, from, columns),
    bytes: Math.max(readCount(table.bytes) ?? 0, readCount(table.parts) ?? 0),
    rowEstimate: readCount(table.rows),
    isTable: 'rmp'.includes(table.relkind ?? 'v'),
  }
}

/** SQL: the attribute `a` of a table is a column that the role may read, which may be some of its columns only. */
const isReadable = (role: Sql): Sql =>
  sql`a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(${role}, a.attrelid, a.attnum, 'SELECT')`

/** The names and types of a table's columns; none if it is gone. */
export async function columnNames(
  connection: PostgresConnection,
  source: string,
  options: SelectOptions,
): Promise<ColumnName[]> {
  const { schema, name } = readableName(source, connection.schema)
  const rows = await facts(
    catalogOf(connection),
    { ...options, isTrusted: true },
    sql`
    SELECT a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = ${schema}::text AND c.relname = ${name}::text AND ${isReadable(roleOf(connection))}
    ORDER BY a.attnum`,
  )
  return rows.map((row) => ({ name: row.name ?? '', dbType: row.type ?? '' }))
}

/** Throws a 400 if the table is there, but not for the user: only where the database is the tenant's, who can mend it. */
async function demandRight(connection: PostgresConnection, { schema, name }: TableName, options: InspectOptions) {
  if (connection.catalog || !options.mayListTables) return
  const [table] = await facts(
    connection,
    options,
    sql`
    SELECT current_user AS user, format(CASE WHEN has_schema_privilege(n.oid, 'USAGE')
        THEN 'GRANT SELECT ON %1$I.%2$I TO %3$I' ELSE 'GRANT USAGE ON SCHEMA %1$I TO %3$I' END, n.nspname, c.relname, current_user) AS "grant"
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema}::text AND c.relname = ${name}::text AND c.relkind IN ('r', 'v', 'm', 'p', 'f')`,
  )
  if (!table) return
  throw invalid(
    'body/source',
    `the user "${table.user}" of this database may not read the table. Run: ${table.grant?.slice(0, 300)}`,
  )
}

/**
 * SQL: a subquery with the type below a domain, whose domain may be over another one, and `record` for a composite type; no row
 * for any other type.
 */
export const baseTypeOf = (type: Sql): Sql => sql`(
  WITH RECURSIVE below AS (
    SELECT ${type} AS oid, -1 AS modifier, 0 AS depth
    UNION ALL SELECT t.typbasetype, t.typtypmod, depth + 1
    FROM below JOIN pg_catalog.pg_type t ON t.oid = below.oid AND t.typtype = 'd')
  SELECT CASE WHEN t.typtype = 'c' THEN 'record' ELSE pg_catalog.format_type(t.oid, below.modifier) END AS type, below.modifier, t.oid
  FROM below JOIN pg_catalog.pg_type t ON t.oid = below.oid
  WHERE t.typtype <> 'd' AND (depth > 0 OR t.typtype = 'c'))`

/** What `type`, `modifier`, `base` and `baseModifier` of a row say. */
function typeFacts(row: Cells): Pick<ColumnFact, 'type' | 'dbType' | 'baseType' | 'geometry'> {
  const { type, base } = row
  const name = base ?? type ?? ''
  return {
    type: typeOfColumn(name),
    dbType: type ?? '',
    ...(base && { baseType: base }),
    ...geometryOf(name, Number(base ? row.baseModifier : row.modifier)),
  }
}

/**
 * SQL: about how many rows the relation `c` of pg_class has, from what its database keeps to plan queries. A partitioned
 * table has none of its own; -1 says that nobody has counted yet.
 */
export const rowEstimate = raw(`(
  SELECT CASE WHEN min(p.reltuples) >= 0 THEN sum(p.reltuples::float8) END FROM pg_catalog.pg_class p
  WHERE p.oid = c.oid AND c.relkind <> 'p'
     OR p.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf))`)

/**
 * Throws unless the application may read all of these. Only in the platform's database, which otherwise says one thing of a
 * table that is another's and another of a table that is not; elsewhere the server's own words are for its owner.
 */
export async function checkReadable(
  connection: PostgresConnection,
  relations: readonly NamedRelation[],
  options: InspectOptions,
): Promise<void> {
  if (!connection.catalog || relations.length === 0) return
  const role = roleOf(connection)
  const unreadable = await facts(
    catalogOf(connection),
    options,
    sql`
    SELECT r.place FROM unnest(${relations.map(({ schema }) => schema ?? null)}::text[], ${relations.map(({ name }) => name)}::text[])
         WITH ORDINALITY AS r(schema, name, place)
    WHERE NOT EXISTS (
      SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = r.name AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
        AND n.nspname = ANY (CASE WHEN r.schema IS NULL THEN ARRAY[${connection.schema}, 'public'] ELSE ARRAY[r.schema] END)
        AND ${isNoOverview(connection)}
        AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_any_column_privilege(${role}, c.oid, 'SELECT'))
    ORDER BY r.place LIMIT 1`,
  )
  const relation = relations[Number(unreadable[0]?.place) - 1]
  if (!relation) return
  const { schema = connection.schema, name } = relation
  const shownName = [relation.schema, name].filter((part) => part !== undefined).join('.')
  throw absent(shownName, await suggestedTables(connection, { schema, name }, options))
}

/** SQL: the relation `c` of pg_class is no overview. */
const isNoOverview = ({ catalog }: PostgresConnection): Sql =>
  catalog ? sql`NOT starts_with(c.relname, ${overviewPrefix})` : raw('TRUE')

/** What a SELECT would answer, without running it for more than a row. */
export async function describeQuery(
  connection: PostgresConnection,
  query: Sql,
  options: SelectOptions,
): Promise<ColumnFact[]> {
  const from = sql`(\n${query}\n)`
  const { columns, batches } = await connection.select(sql`SELECT * FROM ${from} AS q LIMIT 0`, options)
  for await (const _ of batches);
  const names = columns.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw invalid('body/source', `must not have two columns called "${twice}"; rename one with AS`)
  }
  const types = await facts(
    catalogOf(connection),
    options,
    sql`
    SELECT t.oid, m.modifier, pg_catalog.format_type(t.oid, m.modifier) AS type, base.type AS base, base.modifier AS "baseModifier"
    FROM unnest(${columns.map(({ type }) => type)}::oid[], ${columns.map(({ modifier }) => modifier)}::int4[])
         AS m(oid, modifier) JOIN pg_catalog.pg_type t ON t.oid = m.oid LEFT JOIN LATERAL ${baseTypeOf(raw('t.oid'))} AS base ON TRUE`,
  )
  const rowOf = new Map(types.map((row) => [`${row.oid} ${row.modifier}`, row]))
  const described = columns.map(({ name, type, modifier }) => ({
    name,
    ...typeFacts(rowOf.get(`${type} ${modifier}`) ?? {}),
    nullable: true,
    primaryKey: false,
    description: '',
  }))
  return sampled(connection, options, from, described)
}

export type TableName = { readonly schema: string; readonly name: string }

/** `name`, `schema.name`, `"a.b"."c"` */
export function tableName(source: string, ownSchema: string): TableName {
  const parts = [...source.matchAll(/"((?:[^"]|"")+)"|([^."]+)/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
  const [first = source, second] = parts.length > 2 ? [source] : parts
  return second === undefined ? { schema: ownSchema, name: first } : { schema: first, name: second }
}

/** Where a table is. One in a schema of the system, the service or another application is absent, whatever its database. */
export function readableName(source: string, ownSchema: string): TableName {
  const table = tableName(source, ownSchema)
  if (isClosedSchema(table.schema, ownSchema)) throw absent(source)
  return table
}

const absent = (source: string, suggestion = ''): ApiError =>
  invalid('body/source', `there is no table "${source.slice(0, 100)}" that can be read.${suggestion}`)

const tooLong = ` A name in PostgreSQL has at most ${maxIdentifierBytes} bytes of UTF-8.`

const maxSuggested = 1_000

/** The nearest name and a list of the tables of the same schema, for those who may list them: others learn no name. */
async function suggestedTables(
  connection: PostgresConnection,
  { schema, name }: TableName,
  { mayListTables, ...options }: InspectOptions,
): Promise<string> {
  if (!mayListTables || isClosedSchema(schema, connection.schema)) return ''
  const role = roleOf(connection)
  const tables = await facts(
    catalogOf(connection),
    options,
    sql`
    SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT starts_with(c.relname, 'svc_')
      AND has_schema_privilege(${role}, n.oid, 'USAGE') AND has_any_column_privilege(${role}, c.oid, 'SELECT')
    ORDER BY c.relname LIMIT ${maxSuggested}`,
  )
  const names = tables.map((table) => table.name ?? '')
  return names.length === 0 ? '' : `${didYouMean(name, names)} Tables: ${shortList(names)}.`
}
