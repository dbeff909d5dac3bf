import { checkDepth } from '../../data/databases/postgres/tenant-sql/sql-depth.ts'
import { isCallingField, isKnownFunction } from '../../data/databases/postgres/tenant-sql/sql-names.ts'
import { isSelectNode } from '../../data/databases/postgres/tenant-sql/sql-nodes.ts'
import { ApiError } from '../../kernel/errors.ts'

/**
 * Check of the DDL in an archive. Restoring runs it with the rights of the server, and whoever knows a passphrase can write an
 * archive, so a statement must be one of six kinds, must name nothing outside the tenant's own schema, and may call only the
 * functions that tenants' SQL may call. A backup applies the same check, so it writes nothing that restoring would refuse.
 */
type Node = { readonly [field: string]: unknown }

const maxBytes = 1_000_000

/** By kind of statement the fields that it may have: no tablespace, no parent, no other access method of tables. */
const statements: { readonly [kind: string]: readonly string[] } = {
  CreateStmt: ['relation', 'tableElts', 'oncommit'],
  CreateSeqStmt: ['sequence', 'options'],
  AlterSeqStmt: ['sequence', 'options'],
  CreateEnumStmt: ['typeName', 'vals'],
  AlterTableStmt: ['relation', 'cmds', 'objtype'],
  IndexStmt: [
    ...['idxname', 'relation', 'accessMethod', 'indexParams', 'indexIncludingParams', 'options', 'whereClause'],
    ...['excludeOpNames', 'unique', 'nulls_not_distinct'],
  ],
}

const partsOfDdl = new Set(['AlterTableCmd', 'Constraint', 'DefElem', 'IndexElem'])
/** What reads tables. */
const readers = /^(SelectStmt|SubLink|Range\w+|JoinExpr|CommonTableExpr|WithClause|JsonTable\w*)$/

const settled = new Set(['pg_catalog', 'public'])
/** A name without a schema, or with that of PostgreSQL or PostGIS. */
const isSettled = (names: readonly string[]): boolean => names.slice(0, -1).every((schema) => settled.has(schema))

/** Why the statement is refused; undefined when it may run. */
export async function refusalOf(text: string, schema: string): Promise<string | undefined> {
  if (Buffer.byteLength(text) > maxBytes || text.includes('\0') || !text.isWellFormed()) return 'it is not readable'
  try {
    checkDepth(text)
    const parser = await import('libpg-query')
    await parser.loadModule()
    const [first, more] = parser.parseSync(text).stmts ?? []
    return more ? 'it is more than one statement' : statementRefusal((first?.stmt ?? {}) as Node, schema)
  } catch (error) {
    return error instanceof ApiError ? error.message : 'it cannot be parsed'
  }
}

function statementRefusal(root: Node, schema: string): string | undefined {
  const [kind = '', ...others] = Object.keys(root)
  const fields = statements[kind]
  if (!fields || others.length > 0) return `it is a ${kind}`
  const statement = root[kind] as Node
  const strange = Object.keys(statement).find((field) => !fields.includes(field))
  if (strange !== undefined) return `it has ${strange}`
  if (kind === 'CreateEnumStmt' && parts(statement.typeName)[0] !== schema) return 'it names another schema'
  return treeRefusal(statement, schema)
}

/** By hand and not by recursion: a tree may be deep. */
function treeRefusal(root: Node, schema: string): string | undefined {
  const open: Node[] = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    const refusal = nodeRefusal(node, schema)
    if (refusal !== undefined) return refusal
    for (const [kind, value] of Object.entries(node)) {
      if (/^[A-Z]/.test(kind) && (readers.test(kind) || !(isSelectNode(kind) || partsOfDdl.has(kind)))) {
        return `it has a ${kind}`
      }
      if (typeof value === 'object' && value !== null && !isTenantSequence(kind, value as Node, schema))
        open.push(value as Node)
    }
  }
  return undefined
}

function nodeRefusal(node: Node, schema: string): string | undefined {
  if (typeof node.relname === 'string' && (node.schemaname !== schema || node.catalogname !== undefined)) {
    return 'it names another schema'
  }
  if (node.indexspace !== undefined) return 'it names a tablespace'
  if (typeof node.subtype === 'string' && node.subtype !== 'AT_AddConstraint') return `it is an ${node.subtype}`
  if (node.defname === 'sequence_name' || node.defname === 'owned_by') {
    const [first] = parts(((node.arg as Node | undefined)?.List as Node | undefined)?.items)
    if (first !== schema) return 'it names another schema'
  }
  if (node.funcname) return functionRefusal(parts(node.funcname))
  if ([node.name, node.operator].some((list) => !isSettled(parts(list)))) return 'it names another schema'
  return fieldsOf(node).some(isCallingField) ? 'it calls a function' : undefined
}

/** Names behind a point, which may be functions. */
const fieldsOf = (node: Node): string[] => [
  ...parts((node.ColumnRef as Node | undefined)?.fields).slice(1),
  ...parts((node.A_Indirection as Node | undefined)?.indirection),
]

function functionRefusal(names: string[]): string | undefined {
  const name = names.at(-1) ?? ''
  return isSettled(names) && isKnownFunction(name) ? undefined : `it calls the function ${names.join('.')}`
}

/** `nextval('schema.name'::regclass)`, the default of a column that counts. */
function isTenantSequence(kind: string, call: Node, schema: string): boolean {
  if (kind !== 'FuncCall' || parts(call.funcname).join('.').replace('pg_catalog.', '') !== 'nextval') return false
  const [argument, more] = (call.args ?? []) as { TypeCast?: { arg?: { A_Const?: { sval?: { sval?: string } } } } }[]
  const name = argument?.TypeCast?.arg?.A_Const?.sval?.sval
  return (
    more === undefined &&
    Object.keys(call).every((field) => callFields.has(field)) &&
    name?.startsWith(`${schema}.`) === true
  )
}

const callFields = new Set(['funcname', 'args', 'funcformat', 'location'])

/** A name that is no text, such as a star, is empty here. */
function parts(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((item: { String?: { sval?: string } }) => item.String?.sval ?? '')
}
