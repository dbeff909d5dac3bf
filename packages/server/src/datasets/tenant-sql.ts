import { invalid } from '../errors.ts'
import { splitMarkers } from './parameters.ts'
import { checkDepth } from './sql-depth.ts'
import { isRefusedFunction, isRefusedSchema, isRefusedType, isSyntaxFunction } from './sql-names.ts'

const maxBytes = 100_000
const stand = '(NULL::text)'

type Node = { readonly [field: string]: unknown }

/**
 * Throws unless the text (with `:name` markers, if any) is one SELECT that changes nothing, locks nothing and names
 * nothing of the system's. This is the first of two walls: the second is the role that it runs as.
 */
export async function checkTenantSql(text: string): Promise<void> {
  if (Buffer.byteLength(text) > maxBytes) throw refused(`The SQL has more than ${maxBytes} bytes.`)
  // The parser reads up to a NUL; what it does not see, it cannot refuse.
  if (text.includes('\0') || !text.isWellFormed()) throw refused('The SQL contains characters that are no text.')
  const { pieces } = splitMarkers(text)
  const plain = pieces.join(stand)
  checkDepth(plain)
  const statements = parse(await loadParser(), plain, pieces, text)
  const [first] = statements
  if (!first || statements.length > 1) throw refused('The SQL must be one statement.')
  checkTree(first)
}

const refused = (message: string) => invalid('source', message)

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
    if (error instanceof RangeError) throw refused('The SQL nests too deeply.')
    const position = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition : undefined
    const place = position === undefined ? '' : `, ${placeOf(position, pieces, text)}`
    throw refused(`${error instanceof Error ? error.message : 'syntax error'}${place}`)
  }
}

/** The position counts code points of the text in which something else stands for each marker. */
function placeOf(position: number, pieces: readonly string[], text: string): string {
  const plain = [...pieces.join(stand)]
  let left = plain.slice(0, position).join('').length
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    if (left <= piece.length || index === pieces.length - 1) {
      at += left
      break
    }
    left = Math.max(0, left - piece.length - stand.length)
    at += piece.length
    at += /^:\w+/.exec(text.slice(at))?.[0].length ?? 0
  }
  const lines = text.slice(0, at).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? '')].length + 1}`
}

/** By hand and not by recursion: a tree may be deep. */
function checkTree(root: Node): void {
  if (!Object.hasOwn(root, 'SelectStmt')) throw refused('Only SELECT is possible.')
  const open: Node[] = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    checkNode(node)
    // An array is a node as well, whose fields are called 0, 1, 2.
    for (const [kind, value] of Object.entries(node)) {
      checkKind(kind)
      if (typeof value === 'object' && value !== null) open.push(value as Node)
    }
  }
}

function checkKind(kind: string): void {
  if (/Stmt$/.test(kind) && kind !== 'SelectStmt') throw refused('Only SELECT is possible, also inside of WITH.')
  if (kind === 'intoClause') throw refused('SELECT INTO is not possible.')
  if (kind === 'lockingClause') throw refused('FOR UPDATE and FOR SHARE are not possible.')
  if (kind === 'ParamRef') throw refused('Write :name for a parameter, not $1.')
}

/** Names are lists of parts wherever they stand, but for relations. */
function checkNode(node: Node): void {
  if (typeof node.relname === 'string') checkRelation(node, node.relname)
  if (node.funcname) checkFunction(parts(node.funcname))
  if (node.names) checkType(parts(node.names))
  for (const list of [node.name, node.collname, node.operName, node.useOp, node.method]) {
    if (Array.isArray(list)) checkSchema(parts(list))
  }
}

function parts(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((item: { String?: { sval?: string } }) => item.String?.sval ?? '')
}

function checkRelation({ catalogname, schemaname }: Node, name: string): void {
  if (catalogname) throw refused('A table of another database cannot be read.')
  if (typeof schemaname === 'string') checkSchema([schemaname, name])
  if (/^pg_/i.test(name)) throw refused(`The table ${name} belongs to the system.`)
}

function checkFunction(names: string[]): void {
  const name = names.at(-1) ?? ''
  // What has a syntax of its own, such as EXTRACT(… FROM …), is a function of the system to the parser.
  if (names.length === 2 && names[0] === 'pg_catalog' && isSyntaxFunction(name)) return
  checkSchema(names)
  if (isRefusedFunction(name)) throw refused(`The function ${name} is not available.`)
}

function checkType(names: string[]): void {
  const name = names.at(-1) ?? ''
  // int, for one, is pg_catalog.int4 to the parser.
  if (names.length !== 2 || names[0] !== 'pg_catalog') checkSchema(names)
  if (isRefusedType(name)) throw refused(`The type ${name} is not available.`)
}

function checkSchema(names: string[]): void {
  const schema = names.slice(0, -1).find(isRefusedSchema)
  if (schema !== undefined) throw refused(`The schema ${schema} is not yours to read.`)
}
