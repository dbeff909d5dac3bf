// EXPLAIN for tenants, with plans redacted where they would reveal what the reader may not see.
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { PostgresConnection } from './connection.ts'
import type { SelectOptions } from './select-options.ts'

type PlanNode = { readonly [field: string]: unknown; readonly Plans?: readonly PlanNode[] }
type Explained = readonly { readonly Plan: PlanNode }[]

/**
 * PostgreSQL's JSON plan of a statement, which is not run. A view may read tables that its reader may not: in the
 * platform's database such a plan shows only its node types, because names and estimates belong to others.
 */
export async function explainSelect(
  connection: Pick<PostgresConnection, 'select' | 'schema' | 'catalog'>,
  statement: Sql,
  options: SelectOptions,
): Promise<unknown> {
  const { catalog, schema: role } = connection
  if (!catalog) return planSelect(connection, statement, options)
  const explained = await verbosePlan(connection, statement, options)
  const tables = tablesOf(explained)
  const { batches } = await catalog(sql`SELECT count(*) FROM ${readableTables(tables, sql`${role}::name`)}`, options)
  const [readable] = (await Array.fromAsync(batches)).flat(2)
  const show = Number(readable) === tables.length ? withoutSchemas : kindsOnly
  return explained.map((each) => ({ ...(show === withoutSchemas && each), Plan: show(each.Plan) }))
}

/** VERBOSE is needed because only it tells the schemas of tables. */
const verbosePlan = (
  connection: Pick<PostgresConnection, 'select'>,
  statement: Sql,
  options: SelectOptions,
): Promise<Explained> => run(connection, sql`EXPLAIN (VERBOSE, FORMAT JSON) ${statement}`, options)

const tablesOf = (explained: Explained): PlanNode[] =>
  explained.flatMap(({ Plan }) => nodesOf(Plan)).filter((node) => node['Relation Name'] !== undefined)

/** The tables among these that a role may read, joined as `n` (pg_namespace) and `c` (pg_class). */
function readableTables(tables: readonly PlanNode[], role: Sql): Sql {
  const schemas = tables.map((node) => String(node.Schema))
  const names = tables.map((node) => String(node['Relation Name']))
  return sql`unnest(${schemas}::text[], ${names}::text[]) AS t(schema, name)
    JOIN pg_catalog.pg_namespace n ON n.nspname = t.schema AND has_schema_privilege(${role}, n.oid, 'USAGE')
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.name
      AND has_any_column_privilege(${role}, c.oid, 'SELECT')`
}

/**
 * The tables a statement reads that have the column (or, if no column is named, any geometry) but no spatial index on
 * it. It asks the catalog and not the plan, because a plan that uses no index does not show whether one exists.
 */
export async function tablesWithoutSpatialIndex(
  connection: Pick<PostgresConnection, 'select' | 'schema' | 'catalog'>,
  statement: Sql,
  column: string,
  options: SelectOptions,
): Promise<{ table: string; column: string }[]> {
  const { catalog, schema: role } = connection
  const tables = tablesOf(await verbosePlan(connection, statement, options))
  const ask = catalog ?? connection.select
  const { batches } = await ask(
    sql`
    SELECT DISTINCT n.nspname || '.' || c.relname, a.attname
    FROM ${readableTables(tables, catalog ? sql`${role}::name` : sql`current_user`)}
    CROSS JOIN LATERAL (
      SELECT a.attnum, a.attname, a.attname = ${column} AS is_named, bool_or(a.attname = ${column}) OVER () AS has_named
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
      WHERE a.attrelid = c.oid AND NOT a.attisdropped AND y.typname IN ('geometry', 'geography')) AS a
    WHERE c.relkind IN ('r', 'm', 'p') AND (a.is_named OR NOT a.has_named) AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid = x.relam
      WHERE i.indrelid = c.oid AND i.indisvalid AND m.amname IN ('gist', 'spgist', 'brin') AND a.attnum = ANY (i.indkey))
    ORDER BY 1, 2`,
    { ...options, isTrusted: true },
  )
  return (await Array.fromAsync(batches)).flat().map(([table, name]) => ({ table: table ?? '', column: name ?? '' }))
}

/** The full plan, including names: for internal decisions only, never to be shown. */
export const planSelect = (
  connection: Pick<PostgresConnection, 'select'>,
  statement: Sql,
  options: SelectOptions,
): Promise<Explained> => run(connection, sql`EXPLAIN (FORMAT JSON) ${statement}`, options)

async function run(
  connection: Pick<PostgresConnection, 'select'>,
  statement: Sql,
  options: SelectOptions,
): Promise<Explained> {
  const { batches } = await connection.select(statement, options)
  const text = (await Array.fromAsync(batches)).flat(2).join('')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ApiError('upstream_failed', 'The database server sent a plan that is not JSON.', { cause: error })
  }
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Removes what VERBOSE adds, because it is long and not part of the promised answer. */
function withoutSchemas({ Schema: _, Output: __, Plans, ...rest }: PlanNode): PlanNode {
  return { ...rest, ...(Plans && { Plans: Plans.map(withoutSchemas) }) }
}

function kindsOnly(node: PlanNode): PlanNode {
  return { 'Node Type': node['Node Type'], ...(node.Plans && { Plans: node.Plans.map(kindsOnly) }) }
}
