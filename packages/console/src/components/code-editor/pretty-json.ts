/** A JSON formatter that keeps short arrays and objects, such as `[8.54, 47.37]`, on one line. */
const widest = 72

export function prettyJson(value: unknown, blanks = 0): string {
  const line = onOneLine(value)
  if (typeof value !== 'object' || value === null || line.length + blanks <= widest) return line
  const inside = ' '.repeat(blanks + 2)
  const items = Array.isArray(value)
    ? value.map((item) => prettyJson(item, blanks + 2))
    : entriesOf(value).map(([name, item]) => `${JSON.stringify(name)}: ${prettyJson(item, blanks + 2)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map((item) => inside + item).join(',\n')}\n${' '.repeat(blanks)}${close}`
}

function onOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const entries = entriesOf(value).map(([name, item]) => `${JSON.stringify(name)}: ${onOneLine(item)}`)
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}'
}

const entriesOf = (value: object): [string, unknown][] => Object.entries(value).filter(([, item]) => item !== undefined)
