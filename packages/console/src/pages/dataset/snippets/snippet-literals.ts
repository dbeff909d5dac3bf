/** Literals in other languages. */

/** Quotes for a POSIX shell: inside single quotes only the quote itself is special. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A Python literal, on one line if it is short. */
export function pythonLiteral(value: unknown, blanks = 0): string {
  const line = onOneLine(value)
  if (line.length <= 80 || typeof value !== 'object' || value === null) return line
  const inside = ' '.repeat(blanks + 4)
  const items = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, blanks + 4))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, blanks + 4)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map((item) => `${inside}${item},\n`).join('')}${' '.repeat(blanks)}${close}`
}

function onOneLine(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, item]) => `${JSON.stringify(name)}: ${onOneLine(item)}`)
    .join(', ')}}`
}
