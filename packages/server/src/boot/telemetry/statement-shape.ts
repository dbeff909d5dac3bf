/**
 * The shape of a statement: its text without literals and comments, cut to a length that a trace can hold. Bound values are
 * not in the text anyway; this is for what tenants and DDL write into it.
 */
export function statementShape(text: string): string {
  const shape = text
    .slice(0, readLength)
    .replace(literals, (token) => (isKept(token) ? token : /^(?:--|\/\*)/.test(token) ? ' ' : '?'))
    .replace(/\s+/g, ' ')
    .trim()
  return shape.length > shapeLength ? `${shape.slice(0, shapeLength)}…` : shape
}

/** What the statement does, and the first table that it names: few, so that spans group by it. */
export function statementName(shape: string): string {
  const [verb = 'SQL'] = /^[a-z]+/i.exec(shape) ?? []
  const [, table] = /\b(?:FROM|INTO|UPDATE|JOIN)\s+((?:"[^"]*"|[\w.])+)/i.exec(shape) ?? []
  const name = table?.replace(/^"svc"\."(\w+)"$/, 'svc.$1') ?? ''
  return /^svc\.\w+$/.test(name) ? `${verb.toUpperCase()} ${name}` : verb.toUpperCase()
}

const readLength = 8_192
const shapeLength = 1_024

/**
 * Strings with escapes, strings, dollar-quoted texts, comments, quoted names, parameters, names, numbers: in the order in which
 * they must be recognized. One that has no end goes to the end of the text.
 */
const literals = new RegExp(
  [
    String.raw`\b[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)`,
    `'(?:[^']|'')*(?:'|$)`,
    String.raw`\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)`,
    String.raw`--[^\n]*`,
    String.raw`\/\*[\s\S]*?(?:\*\/|$)`,
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`\$\d+`,
    String.raw`[A-Za-z_][\w$]*`,
    String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`,
  ].join('|'),
  'g',
)

/** Names and numbered parameters. */
const isKept = (token: string): boolean => /^(?:"|\$\d|[A-Za-z_][\w$]*$)/.test(token)
