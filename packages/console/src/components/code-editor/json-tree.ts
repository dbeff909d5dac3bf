/**
 * Maps JSON syntax errors and error paths to positions, with the Lezer tree that the editor has anyway. `JSON.parse` gives
 * no position for some errors (a missing value), and a parsed object has none at all.
 */
import { jsonLanguage } from '@codemirror/lang-json'
import type { SyntaxNode, Tree } from '@lezer/common'

export interface TextRange {
  from: number
  to: number
}

/** A message at a position; without one it applies to the whole text. */
export interface Diagnostic {
  from?: number
  to?: number
  /** Where in the JSON: `layers[0].paint.x` or `body/layers/0/paint`. */
  path?: string
  message: string
  severity: 'error' | 'warning' | 'info'
}

const mostFaults = 20
const longestQuote = 30

/** Syntax errors, each at the unexpected token. */
export function jsonFaults(text: string, tree: Tree = jsonLanguage.parser.parse(text)): (Diagnostic & TextRange)[] {
  const faults: (Diagnostic & TextRange)[] = []
  let end = -1
  tree.iterate({
    enter({ type, from, to, node }) {
      if (!type.isError) return
      // The parser often reports a second, empty error where it resumes; it adds nothing.
      if (from !== end && faults.length < mostFaults) {
        faults.push({ from, to, message: faultMessage(text, node), severity: 'error' })
      }
      end = Math.max(end, to)
    },
  })
  return faults
}

function faultMessage(text: string, node: SyntaxNode): string {
  if (node.parent?.name === 'JsonText' && node.prevSibling) return 'Nothing may follow after the first value.'
  const nodeText = text.slice(node.from, node.to)
  const expected = expectedAt(node)
  if (!nodeText) return `${expected} is missing here.`
  if (/^["']/.test(nodeText) && !/^"[^"\\]*"$/.test(nodeText)) {
    return 'A text stands in double quotes, on one line; \\ begins one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000.'
  }
  const quoted = nodeText.length > longestQuote ? `${nodeText.slice(0, longestQuote)}…` : nodeText
  return `${quoted} does not fit here. ${expected} is expected.`
}

function expectedAt({ parent, prevSibling }: SyntaxNode): string {
  const before = prevSibling?.name
  switch (parent?.name) {
    case 'Property':
      return before === 'PropertyName' ? 'A colon' : 'A value'
    case 'PropertyName':
      return 'A name in double quotes'
    case 'Object':
      return before === 'Property' ? 'A comma or }' : 'A name in double quotes'
    case 'Array':
      return before === ',' || before === '[' ? 'A value' : 'A comma or ]'
    default:
      return 'A value'
  }
}

/** Splits paths such as `layers[0].paint.x`, `body/style/layers/0/paint` and `/layers/0`. */
export const pathSegments = (path: string): string[] =>
  (path.includes('/') ? path.split('/') : path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')).filter(Boolean)

/**
 * The range of a path: the value, or only the property's name if the value is an object or array, so that not half the text
 * is underlined. Leading segments outside the text (`body`, `body/style`) are optional. A missing value is shown at its
 * nearest parent. Null if there is nothing to show.
 */
export function positionOfPath(
  text: string,
  path: string,
  tree: Tree = jsonLanguage.parser.parse(text),
): TextRange | null {
  const root = firstValue(tree.topNode)
  if (!root) return null
  const segments = pathSegments(path)
  const walks = [0, 1, 2]
    .filter((skipped) => skipped < Math.max(segments.length, 1))
    .map((skipped) => walk(text, root, segments.slice(skipped)))
  const [best] = walks.toSorted((one, other) => other.depth - one.depth)
  return best ? shownRange(best.node) : null
}

function walk(text: string, root: SyntaxNode, segments: readonly string[]): { node: SyntaxNode; depth: number } {
  let node = root
  let depth = 0
  for (const segment of segments) {
    const next = childAt(text, node, segment)
    if (!next) break
    node = next
    depth += 1
  }
  return { node, depth }
}

function childAt(text: string, node: SyntaxNode, segment: string): SyntaxNode | null {
  if (node.name === 'Array') return valuesOf(node)[Number(segment)] ?? null
  if (node.name !== 'Object') return null
  const property = node.getChildren('Property').find((one) => nameOf(text, one) === segment)
  return property ? (firstValue(property) ?? property) : null
}

function nameOf(text: string, property: SyntaxNode): string | undefined {
  const name = property.getChild('PropertyName')
  try {
    return name ? (JSON.parse(text.slice(name.from, name.to)) as string) : undefined
  } catch {
    return undefined
  }
}

const valueNames = /^(Object|Array|String|Number|True|False|Null)$/

const firstValue = (parent: SyntaxNode): SyntaxNode | undefined => valuesOf(parent)[0]

function valuesOf(parent: SyntaxNode): SyntaxNode[] {
  const values: SyntaxNode[] = []
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (valueNames.test(child.name)) values.push(child)
  }
  return values
}

function shownRange(node: SyntaxNode): TextRange {
  const name = node.parent?.getChild('PropertyName')
  if (name && /^(Object|Array|Property)$/.test(node.name)) return { from: name.from, to: name.to }
  return node.name === 'Object' || node.name === 'Array'
    ? { from: node.from, to: node.from + 1 }
    : { from: node.from, to: node.to }
}
