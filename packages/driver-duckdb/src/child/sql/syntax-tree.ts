import { DuckdbFault } from '../../fault.ts'
import { allowedFunctions, allowedTableFunctions } from './allowed-functions.ts'

/**
 * The check of somebody's SQL: an allow-list over DuckDB's own syntax tree. Whatever is not known here is refused, so that a new
 * kind of expression is closed until somebody opens it.
 */

const classes: ReadonlySet<unknown> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COLLATE',
  'COLUMN_REF',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'FUNCTION',
  'LAMBDA',
  'LAMBDA_REF',
  'OPERATOR',
  'PARAMETER',
  'POSITIONAL_REFERENCE',
  'STAR',
  'SUBQUERY',
  'TYPE',
  'WINDOW',
])

const nodeTypes: ReadonlySet<unknown> = new Set([
  // Queries
  'CTE_NODE',
  'RECURSIVE_CTE_NODE',
  'SELECT_NODE',
  'SET_OPERATION_NODE',
  // What a query reads
  'BASE_TABLE',
  'EMPTY',
  'EXPRESSION_LIST',
  'JOIN',
  'SUBQUERY',
  'TABLE_FUNCTION',
  // What follows it
  'DISTINCT_MODIFIER',
  'LIMIT_MODIFIER',
  'LIMIT_PERCENT_MODIFIER',
  'ORDER_MODIFIER',
  'ASCENDING',
  'DESCENDING',
  'ORDER_DEFAULT',
  // Types of columns
  'ARRAY_TYPE_INFO',
  'DECIMAL_TYPE_INFO',
  'ENUM_TYPE_INFO',
  'GENERIC_TYPE_INFO',
  'GEO_TYPE_INFO',
  'LIST_TYPE_INFO',
  'STRING_TYPE_INFO',
  'STRUCT_TYPE_INFO',
  'UNBOUND_TYPE_INFO',
])

/** Views of DuckDB itself begin so. A name of these that is defined in one place would open the view in another. */
export const systemName = /^(duckdb_|pg_|sqlite_|pragma_|information_schema)/i

const plainName = /^[\p{L}_][\p{L}\p{N}_$]*$/u

const maxNodes = 50_000

type TreeNode = { readonly [field: string]: unknown }

/** The tables that a query reads, of those that `isTable` knows. Without recursion, for a tree may be thousands of levels deep. */
export function checkTree(statements: readonly unknown[], isTable: (name: string) => boolean): string[] {
  if (statements.length !== 1) throw refused('must be exactly one SELECT')
  const defined = new Set<string>()
  const named: string[] = []
  const ahead: unknown[] = [...statements]
  for (let count = 0; ahead.length > 0; count++) {
    if (count > maxNodes) throw refused('is too long')
    const node = ahead.pop()
    if (typeof node !== 'object' || node === null) continue
    if (!Array.isArray(node)) visit(node as TreeNode, defined, named)
    if (!isConstant(node as TreeNode)) for (const child of children(node as TreeNode)) ahead.push(child)
  }
  const tables = named.filter((name) => !defined.has(name.toLowerCase()))
  const unknown = tables.find((name) => !isTable(name.toLowerCase()))
  if (unknown !== undefined) throw refused(`names the table "${shortened(unknown)}", which is not in the folder`)
  return [...new Set(tables.map((name) => name.toLowerCase()))]
}

const isConstant = (node: TreeNode): boolean => node.class === 'CONSTANT'

/** The function of a table function is of another list, so it is looked at there and only its arguments are walked. */
function children(node: TreeNode): unknown[] {
  if (node.type !== 'TABLE_FUNCTION' || node.class !== undefined) return Object.values(node)
  const { function: called, ...rest } = node
  return [...Object.values(rest), ...Object.values(called as TreeNode)]
}

function visit(node: TreeNode, defined: Set<string>, named: string[]): void {
  if (node.class !== undefined) {
    visitExpression(node)
    return
  }
  if (typeof node.type === 'string') visitNode(node, named)
  const { map } = (node.cte_map ?? {}) as { map?: readonly { readonly key?: unknown }[] }
  for (const { key } of map ?? []) defined.add(definedName(key))
}

function visitExpression(node: TreeNode): void {
  if (!classes.has(node.class)) throw refused(`has ${wordsOf(node.class)}, which is not allowed`)
  if (node.function_name !== undefined) checkFunction(node, allowedFunctions)
}

function visitNode(node: TreeNode, named: string[]): void {
  if (!nodeTypes.has(node.type)) throw refused(`has ${wordsOf(node.type)}, which is not allowed`)
  if (node.type === 'BASE_TABLE') named.push(tableName(node))
  if (node.type === 'TABLE_FUNCTION') checkFunction((node.function ?? {}) as TreeNode, allowedTableFunctions)
}

function checkFunction({ function_name, schema, catalog }: TreeNode, allowed: ReadonlySet<string>): void {
  const name = String(function_name)
  const isPlain = (schema === '' || schema === 'main') && (catalog === '' || catalog === undefined)
  if (!isPlain) throw refused(`calls ${shortened(name)} by a name with a dot; write ${shortened(name)}(…)`)
  if (!allowed.has(name.toLowerCase()))
    throw refused(`calls ${shortened(name)}, which is not among the allowed functions`)
}

function tableName({ catalog_name, schema_name, table_name, at_clause }: TreeNode): string {
  const name = String(table_name)
  const isPlain = catalog_name === '' && (schema_name === '' || schema_name === 'main')
  if (!isPlain) throw refused(`names the table "${shortened(name)}" with a database or schema; write its name alone`)
  if (at_clause) throw refused('reads a table AT a time, which is not allowed')
  return name
}

function definedName(key: unknown): string {
  const name = String(key)
  if (!plainName.test(name) || systemName.test(name)) {
    throw refused(`defines "${shortened(name)}" by WITH; such names are letters, digits and _, and begin otherwise`)
  }
  return name.toLowerCase()
}

const kinds: { readonly [type: string]: string } = {
  SHOW_REF: 'DESCRIBE, SHOW or SUMMARIZE',
  PIVOT: 'PIVOT',
  DEFAULT: 'DEFAULT',
}

const wordsOf = (type: unknown): string => kinds[String(type)] ?? `an expression of the kind ${shortened(String(type))}`

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

const refused = (what: string): DuckdbFault => new DuckdbFault('refused', `The SQL ${what}.`)
