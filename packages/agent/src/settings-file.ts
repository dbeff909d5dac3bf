import { createReadStream } from 'node:fs'
import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml'
import { type Env, type Members, type Said, UsageError } from './said.ts'

const maxBytes = 64 * 1024
/** A few lines of aliases can stand for billions of values, or for themselves. */
const maxAliases = 200
const maxValues = 5_000
const maxDepth = 10

type Place = { where: string; name: string; depth: number }

/** The file's text; undefined where there is none. */
export async function readSettingsText(path: string): Promise<string | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(path, { end: maxBytes })) chunks.push(chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > maxBytes) throw new UsageError(`${path} is larger than 64 KiB.`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${path} is not UTF-8.`)
  }
}

/** What a file in YAML says, with the variables it names. */
export function parseSettings(text: string, path: string, env: Env): Said {
  const { document, lineAt } = parse(text, path)
  let values = 0
  let aliases = 0

  function said(node: Node | null, place: Place): Said {
    const { where, depth } = place
    if (++values > maxValues) throw new UsageError(`${path} has more than ${maxValues} values.`)
    if (depth > maxDepth) throw new UsageError(`${where} is nested too deeply.`)
    if (isAlias(node)) return said(target(node, where), place)
    if (isMap<Node, Node | null>(node)) return { where, what: members(node, place) }
    if (isSeq<Node>(node)) {
      return { where, what: node.items.map((item, i) => said(item, within(place, item, `${place.name}[${i}]`))) }
    }
    return { where, what: expand(isScalar(node) ? textOf(node) : '', where, env) }
  }
  function members({ items }: YAMLMap<Node, Node | null>, parent: Place): Members {
    const found = new Map<string, Said>()
    for (const { key, value } of items) {
      const name = isScalar(key) ? textOf(key) : ''
      const place = within(parent, key, parent.name === '' ? name : `${parent.name}.${name}`)
      if (name === '') throw new UsageError(`${path}:${lineAt(key)}: names must be text that is not empty.`)
      if (found.has(name)) throw new UsageError(`${place.where} is given twice.`)
      found.set(name, said(value, place))
    }
    return found
  }
  function target(alias: Alias, where: string): Node {
    if (++aliases > maxAliases) throw new UsageError(`${path} has more than ${maxAliases} aliases.`)
    const node = alias.resolve(document)
    if (node) return node
    throw new UsageError(`${where} refers to the anchor ${alias.source}, which is not defined before it.`)
  }
  const within = ({ depth }: Place, node: Node, name: string): Place => ({
    where: `${path}:${lineAt(node)}: ${name}`,
    name,
    depth: depth + 1,
  })

  return said(document.contents, { where: path, name: '', depth: 0 })
}

/** Where the parser's own words would not help. */
const problems: { readonly [Code in ErrorCode]?: string } = {
  MULTIPLE_DOCS: 'A second document begins here. The file must hold one.',
  RESOURCE_EXHAUSTION: 'The value is nested too deeply.',
}

function parse(text: string, path: string): { document: Document.Parsed; lineAt(node: Node): number } {
  const lineCounter = new LineCounter()
  const lineAt = (position: number) => lineCounter.linePos(position).line
  const document = parseDocument(text, {
    schema: 'core',
    resolveKnownTags: false,
    // Whoever reads the members sees which is there twice, and does not compare each with all.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  })
  // A tag that is not known is only a warning, but would have no effect.
  const [error] = [...document.errors, ...document.warnings]
  if (error) throw new UsageError(`${path}:${lineAt(error.pos[0])}: ${problems[error.code] ?? error.message}`)
  return { document, lineAt: (node) => lineAt(node.range?.[0] ?? 0) }
}

/** A text as it is written: an id of digits is no number. */
const textOf = ({ value, source }: { value: unknown; source?: string }): string =>
  typeof value === 'string' ? value : value === null ? '' : (source ?? String(value))

/** `${NAME}` is a variable, `$$` a dollar sign. */
function expand(text: string, where: string, env: Env): string {
  return text.replace(/\$\$|\$\{(\w+)\}|\$\{/g, (found, name?: string) => {
    if (found === '$$') return '$'
    if (name === undefined)
      throw new UsageError(`${where} has a \${ without a variable name. Write $\${ for a literal \${.`)
    const value = Object.hasOwn(env, name) && env[name]
    if (value) return value
    throw new UsageError(`${where} uses the variable ${name}, which is not set or is empty.`)
  })
}
