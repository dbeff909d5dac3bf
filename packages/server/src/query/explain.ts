import { type Sql, sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Connection, SelectOptions } from './connection.ts'

type PlanNode = { readonly [field: string]: unknown; readonly Plans?: readonly PlanNode[] }
type Explained = readonly { readonly Plan: PlanNode }[]

/**
 * How a statement would be carried out, without doing it: PostgreSQL's own JSON. A view may read what its reader may not: in the
 * platform's database a plan that does so shows the kinds of its nodes and nothing else, for names and estimates are of others.
 */
export async function explainSelect(
  connection: Pick<Connection, 'select' | 'schema' | 'catalog'>,
  statement: Sql,
  options: SelectOptions,
): Promise<unknown> {
  const { catalog, schema: role } = connection
  if (!catalog) return planSelect(connection, statement, options)
  // Only VERBOSE tells the schemas of tables.
  const explained = await run(connection, sql`EXPLAIN (VERBOSE, FORMAT JSON) ${statement}`, options)
  const tables = explained.flatMap(({ Plan }) => nodesOf(Plan)).filter((node) => node['Relation Name'] !== undefined)
  const schemas = tables.map((node) => String(node.Schema))
  const names = tables.map((node) => String(node['Relation Name']))
  const { batches } = await catalog(
    sql`
    SELECT count(*) FROM unnest(${schemas}::text[], ${names}::text[]) AS t(schema, name)
    JOIN pg_catalog.pg_namespace n ON n.nspname = t.schema
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.name
    WHERE has_schema_privilege(${role}::name, n.oid, 'USAGE') AND has_any_column_privilege(${role}::name, c.oid, 'SELECT')`,
    options,
  )
  const [readable] = (await Array.fromAsync(batches)).flat(2)
  const show = Number(readable) === tables.length ? withoutSchemas : kindsOnly
  return explained.map((each) => ({ ...(show === withoutSchemas && each), Plan: show(each.Plan) }))
}

/** The plan as it is, with whatever it names: for decisions of ours, not to be shown. */
export const planSelect = (
  connection: Pick<Connection, 'select'>,
  statement: Sql,
  options: SelectOptions,
): Promise<Explained> => run(connection, sql`EXPLAIN (FORMAT JSON) ${statement}`, options)

async function run(connection: Pick<Connection, 'select'>, statement: Sql, options: SelectOptions): Promise<Explained> {
  const { batches } = await connection.select(statement, options)
  const text = (await Array.fromAsync(batches)).flat(2).join('')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ApiError('upstream_failed', 'The database server sent a plan that is not JSON.', { cause: error })
  }
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** What VERBOSE adds is long, and nobody asked for it. */
function withoutSchemas({ Schema: _, Output: __, Plans, ...rest }: PlanNode): PlanNode {
  return { ...rest, ...(Plans && { Plans: Plans.map(withoutSchemas) }) }
}

function kindsOnly(node: PlanNode): PlanNode {
  return { 'Node Type': node['Node Type'], ...(node.Plans && { Plans: node.Plans.map(kindsOnly) }) }
}
