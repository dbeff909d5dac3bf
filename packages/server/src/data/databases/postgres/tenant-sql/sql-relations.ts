import { invalid } from '../../../../kernel/errors.ts'
import { didYouMean } from '../../../../kernel/nearest-name.ts'
import { splitMarkers } from '../../../../query/execution/sql-markers.ts'
import {
  isCallingField,
  isClosedSchema,
  isExternalFunction,
  isKnownFunction,
  isKnownType,
  knownFunctions,
  knownTypes,
} from './sql-names.ts'
import { isSelectNode } from './sql-nodes.ts'

/** Where a query is to run. */
export type SqlContext = {
  /** Where its unqualified names are. */
  readonly schema: string
  /** The platform's database, in which others have tables too. In an external one, tenants may call functions of their own. */
  readonly isShared: boolean
}

/** A table or view that a query names. */
export type NamedRelation = { readonly schema: string | undefined; readonly name: string }

type Node = { readonly [field: string]: unknown }

/** What stands for a marker while the text is parsed. */
const placeholder = '(NULL::text)'

/** The SQL as the parser reads it, with something in place of each `:name` marker. */
export const withoutMarkers = (text: string): string => splitMarkers(text).pieces.join(placeholder)

/**
 * Parses the text of a tenant with PostgreSQL's own parser, throws unless it is one SELECT of what is allowed, and answers
 * which tables it names. Names that WITH gives are not among them. Takes about 15 microseconds for each word and sign.
 */
export async function readRelations({
  text,
  context,
}: {
  text: string
  context: SqlContext
}): Promise<NamedRelation[]> {
  const { pieces } = splitMarkers(text)
  const statements = parse(await loadParser(), pieces.join(placeholder), pieces, text)
  const [first] = statements
  if (!first || statements.length > 1) throw refused('must be one statement')
  return checkTree(first, context)
}

const refused = (message: string) => invalid('body/source', message)

type Parser = typeof import('libpg-query')

/** PostgreSQL's own parser takes megabytes, and a server whose datasets are tables never needs it. */
async function loadParser(): Promise<Parser> {
  const parser = await import('libpg-query')
  await parser.loadModule()
  return parser
}

function parse({ parseSync, hasSqlDetails }: Parser, plain: string, pieces: readonly string[], text: string): Node[] {
  if (plain.trim() === '') return []
  try {
    return (parseSync(plain).stmts ?? []).map(({ stmt }) => (stmt ?? {}) as Node)
  } catch (error) {
    if (error instanceof RangeError) throw refused('must not nest that deeply')
    const position = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined
    const where = position === undefined ? '' : `, ${lineAndColumn(position, pieces, text)}`
    throw refused(`${error instanceof Error ? error.message : 'syntax error'}${where}`)
  }
}

/** The position counts code points of the text in which something else stands for each marker. */
function lineAndColumn(position: number, pieces: readonly string[], text: string): string {
  const plain = [...pieces.join(placeholder)]
  let left = plain.slice(0, position).join('').length
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    if (left <= piece.length || index === pieces.length - 1) {
      at += left
      break
    }
    left = Math.max(0, left - piece.length - placeholder.length)
    at += piece.length
    at += /^:\w+/.exec(text.slice(at))?.[0].length ?? 0
  }
  const lines = text.slice(0, at).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? '')].length + 1}`
}

/** By hand and not by recursion: a tree may be deep. */
function checkTree(root: Node, context: SqlContext): NamedRelation[] {
  if (!Object.hasOwn(root, 'SelectStmt')) throw refused('must be a SELECT')
  const relations: NamedRelation[] = []
  const withNames = new Set<unknown>()
  const open: Node[] = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    checkNode(node, context)
    if (isRelation(node)) relations.push({ schema: node.schemaname, name: node.relname })
    if ('ctename' in node) withNames.add(node.ctename)
    open.push(...childrenOf(node))
  }
  return relations.filter(({ schema, name }) => schema !== undefined || !withNames.has(name))
}

const isRelation = (node: Node): node is Node & { relname: string; schemaname?: string } =>
  typeof node.relname === 'string'

/** An array is a node as well, whose fields are called 0, 1, 2. */
function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([kind, value]) => {
    checkKind(kind)
    if (typeof value !== 'object' || value === null) return []
    return [kind === 'TypeCast' ? castNode(value as Node) : (value as Node)]
  })
}

/** Names of kinds of nodes begin with a capital, those of fields do not. */
function checkKind(kind: string): void {
  if (kind === 'intoClause') throw refused('must not use SELECT INTO')
  if (kind === 'lockingClause') throw refused('must not use FOR UPDATE or FOR SHARE')
  if (kind === 'ParamRef') throw refused('must write parameters as :name, not $1')
  if (/Stmt$/.test(kind) && kind !== 'SelectStmt') throw refused('must be a SELECT, also inside WITH')
  if (/^[A-Z]/.test(kind) && !isSelectNode(kind)) throw refused(`must not use syntax that is not available (${kind})`)
}

/** Names are lists of parts everywhere except in relations. */
function checkNode(node: Node, context: SqlContext): void {
  if (isRelation(node)) checkRelation(node, node.relname, context)
  if (node.funcname) checkFunction(parts(node.funcname), context)
  if (node.names) checkType(parts(node.names), context)
  for (const list of [node.name, node.collname, node.operName, node.useOp]) {
    if (Array.isArray(list)) checkQualifier(parts(list).slice(0, -1), context)
  }
  if (Array.isArray(node.method)) checkSampling(parts(node.method))
  if (node.ColumnRef) checkColumn(parts((node.ColumnRef as Node).fields), context)
  if (node.A_Indirection) for (const name of parts((node.A_Indirection as Node).indirection)) checkField(name)
}

/** A name that is no text, such as a star, is empty here. */
function parts(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((item: { String?: { sval?: string } }) => item.String?.sval ?? '')
}

function checkRelation({ catalogname, schemaname }: Node, name: string, context: SqlContext): void {
  if (catalogname) throw refused('must not name tables of another database')
  if (schemaname === 'pg_catalog') throw closed(schemaname)
  if (typeof schemaname === 'string') checkQualifier([schemaname], context)
  if (/^pg_/i.test(name))
    throw refused(`must not read "${shown(name)}": names that begin with pg_ belong to the system`)
}

function checkFunction(names: string[], context: SqlContext): void {
  const name = names.at(-1) ?? ''
  const [schema, more] = names.slice(0, -1)
  if (more !== undefined) throw refused('must not call functions of another database')
  // What has a syntax of its own, such as EXTRACT(… FROM …), is a function of pg_catalog to the parser.
  if (schema === undefined || schema === 'pg_catalog' || schema === 'public') {
    if (isKnownFunction(name)) return
  } else checkQualifier([schema], context)
  if (!context.isShared && schema !== undefined && schema !== 'pg_catalog' && isExternalFunction(name)) return
  throw refused(
    `The function ${shown(name)} is not available.${didYouMean(name, knownFunctions())} Queries may call SQL's functions of values and PostGIS's of geometries${
      context.isShared ? '' : ', and functions of this database that are written with their schema'
    }; docs/concepts.md says which.`,
  )
}

/**
 * A cast to `regconfig`, which says in which language a text is searched, goes without its type. Only here: JSON_VALUE and the
 * like catch the errors of the types that they name, and so would tell whether there is a schema.
 */
function castNode(cast: Node): Node {
  const { names, typmods, arrayBounds } = cast.typeName as Node
  const isConfiguration = parts(names).join() === 'regconfig' && !typmods && !arrayBounds
  return isConfiguration ? { arg: cast.arg } : cast
}

function checkType(names: string[], context: SqlContext): void {
  const name = names.at(-1) ?? ''
  const [schema, more] = names.slice(0, -1)
  if (more !== undefined) throw refused('must not use types of another database')
  // int, for one, is pg_catalog.int4 to the parser.
  if (schema === undefined || schema === 'pg_catalog' || schema === 'public') {
    if (isKnownType(name)) return
  } else checkQualifier([schema], context)
  if (!context.isShared && schema !== undefined && schema !== 'pg_catalog') return
  throw refused(
    `The type ${shown(name)} is not available.${didYouMean(name, knownTypes)} Queries may use SQL's types of values and PostGIS's of geometries${
      context.isShared ? '' : ', and types of this database that are written with their schema'
    }.`,
  )
}

/** `column`, `table.column`, `schema.table.column`, and a star for any column. */
function checkColumn(names: string[], context: SqlContext): void {
  checkQualifier(names.slice(0, -2), context)
  names.slice(1).forEach(checkField)
}

function checkField(name: string): void {
  if (isCallingField(name))
    throw refused(`must not use "${shown(name)}": it is the name of a function or type that is not available`)
}

function checkSampling(names: string[]): void {
  if (!['system', 'bernoulli'].includes(names.join('.'))) throw refused('must use SYSTEM or BERNOULLI with TABLESAMPLE')
}

/** Operators and collations of pg_catalog are SQL's own. */
function checkQualifier(schemas: readonly string[], { schema: own }: SqlContext): void {
  const schema = schemas.find((name) => name !== 'pg_catalog' && isClosedSchema(name, own))
  if (schema !== undefined) throw closed(schema)
}

/** The same words whether there is such a schema or not. */
const closed = (schema: string) => refused(`must not name the schema ${shown(schema)}: it cannot be read`)

const shown = (name: string): string => name.slice(0, 80)
