/** The columns that every uploaded table has. */
export const keyColumn = 'fid'
export const geometryColumn = 'geom'

/** PostgreSQL cuts longer names. */
const maxBytes = 63

/** Of PostgreSQL's own columns, of overviews, of ours; and a name that is none for a property in JavaScript. */
const taken = [
  ...['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid', 'oid', 'svc_count', 'svc_size', '__proto__'],
  ...[keyColumn, geometryColumn],
]

/** Names for columns: readable without quoting rules, different from one another in any case, never too long. */
export function columnNames(originals: readonly string[]): string[] {
  const used = new Set(taken)
  return originals.map((original) => {
    const name = freeName(cleanName(original) || 'column', (candidate) => used.has(candidate.toLowerCase()))
    used.add(name.toLowerCase())
    return name
  })
}

/** The name itself, or with the first number that makes it free. */
export function freeName(name: string, isTaken: (candidate: string) => boolean, bytes = maxBytes): string {
  let candidate = cut(name, bytes)
  for (let number = 2; isTaken(candidate); number++) candidate = `${cut(name, bytes - `_${number}`.length)}_${number}`
  return candidate
}

/** Letters and digits of any script stay, everything between them becomes `_`. */
export function cleanName(original: string): string {
  return original
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .replaceAll(/^_+(?=[^_])|(?<=[^_])_+$/g, (edge) => (original.startsWith('_') && edge === '_' ? edge : ''))
}

/** No more than so many bytes, and no half character. */
function cut(text: string, bytes: number): string {
  let length = 0
  let end = 0
  for (const character of text) {
    length += Buffer.byteLength(character)
    if (length > bytes) return text.slice(0, end)
    end += character.length
  }
  return text
}
