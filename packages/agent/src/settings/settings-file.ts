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
import { type Env, type Members, type Setting, UsageError } from './setting.ts'

const maxBytes = 64 * 1024
/** Limits against YAML bombs: a few lines of aliases can expand to billions of values, or refer to themselves. */
const maxAliases = 200
const maxValues = 5_000
const maxDepth = 10

type SettingPath = { where: string; name: string; depth: number }

/** The file's text; undefined if there is no file. */
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

/** Parses a YAML file and expands its variables. */
export function parseSettings(text: string, path: string, env: Env): Setting {
  const { document, lineAt } = parse(text, path)
  let values = 0
  let aliases = 0

  function settingOf(node: Node | null, place: SettingPath): Setting {
    const { where, depth } = place
    if (++values > maxValues) throw new UsageError(`${path} has more than ${maxValues} values.`)
    if (depth > maxDepth) throw new UsageError(`${where} is nested too deeply.`)
    if (isAlias(node)) return settingOf(target(node, where), place)
    if (isMap<Node, Node | null>(node)) return { where, what: members(node, place) }
    if (isSeq<Node>(node)) {
      return { where, what: node.items.map((item, i) => settingOf(item, within(place, item, `${place.name}[${i}]`))) }
    }
    return { where, what: expand(isScalar(node) ? textOf(node) : '', where, env) }
  }
  function members({ items }: YAMLMap<Node, Node | null>, parent: SettingPath): Members {
    const settings = new Map<string, Setting>()
    for (const { key, value } of items) {
      const name = isScalar(key) ? textOf(key) : ''
      const place = within(parent, key, parent.name === '' ? name : `${parent.name}.${name}`)
      if (name === '') throw new UsageError(`${path}:${lineAt(key)}: names must be text that is not empty.`)
      if (settings.has(name)) throw new UsageError(`${place.where} is given twice.`)
      settings.set(name, settingOf(value, place))
    }
    return settings
  }
  function target(alias: Alias, where: string): Node {
    if (++aliases > maxAliases) throw new UsageError(`${path} has more than ${maxAliases} aliases.`)
    const node = alias.resolve(document)
    if (node) return node
    throw new UsageError(`${where} refers to the anchor ${alias.source}, which is not defined before it.`)
  }
  const within = ({ depth }: SettingPath, node: Node, name: string): SettingPath => ({
    where: `${path}:${lineAt(node)}: ${name}`,
    name,
    depth: depth + 1,
  })

  return settingOf(document.contents, { where: path, name: '', depth: 0 })
}

/** Replacements for messages of the parser that would not help. */
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
    // Duplicates are found when the members are read; the parser's own check is quadratic.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  })
  // Warnings count as errors: an unknown tag, for example, would have no effect.
  const [error] = [...document.errors, ...document.warnings]
  if (error) throw new UsageError(`${path}:${lineAt(error.pos[0])}: ${problems[error.code] ?? error.message}`)
  return { document, lineAt: (node) => lineAt(node.range?.[0] ?? 0) }
}

/** A scalar's source text, so that an id of digits does not become a number. */
const textOf = ({ value, source }: { value: unknown; source?: string }): string =>
  typeof value === 'string' ? value : value === null ? '' : (source ?? String(value))

/** Expands `${NAME}` to a variable and `$$` to a dollar sign. */
function expand(text: string, where: string, env: Env): string {
  return text.replace(/\$\$|\$\{(\w+)\}|\$\{/g, (whole, name?: string) => {
    if (whole === '$$') return '$'
    if (name === undefined)
      throw new UsageError(`${where} has a \${ without a variable name. Write $\${ for a literal \${.`)
    const value = Object.hasOwn(env, name) && env[name]
    if (value) return value
    throw new UsageError(`${where} uses the variable ${name}, which is not set or is empty.`)
  })
}
