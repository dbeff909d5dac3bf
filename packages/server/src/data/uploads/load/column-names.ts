// Column names for uploaded tables.
import { cutIdentifier, maxIdentifierBytes } from '../../../kernel/db/identifier.ts'

/** The columns of every uploaded table. */
export const keyColumn = 'fid'
export const geometryColumn = 'geom'
/** A field that may become the key, until that is known. */
export const keyCandidateColumn = 'svc_key'

/** Reserved: PostgreSQL's system columns, columns of overviews, our own, and `__proto__`. */
const taken = [
  ...['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid', 'oid', 'svc_count', 'svc_size', '__proto__'],
  ...[keyColumn, geometryColumn, keyCandidateColumn],
]

/** Makes column names that need no quoting, are unique without regard to case, and are never too long. */
export function columnNames(originals: readonly string[]): string[] {
  const used = new Set(taken)
  return originals.map((original) => {
    const name = freeName(cleanName(original) || 'column', (candidate) => used.has(candidate.toLowerCase()))
    used.add(name.toLowerCase())
    return name
  })
}

/** The name itself, or the name with the first number that makes it unique. */
export function freeName(name: string, isTaken: (candidate: string) => boolean, bytes = maxIdentifierBytes): string {
  let candidate = cutIdentifier(name, bytes)
  for (let number = 2; isTaken(candidate); number++)
    candidate = `${cutIdentifier(name, bytes - `_${number}`.length)}_${number}`
  return candidate
}

/** Keeps letters and digits of any script; everything between them becomes `_`. A clean name stays as it is. */
export function cleanName(original: string): string {
  const name = original.toWellFormed().normalize('NFC')
  if (/^[\p{L}\p{M}\p{N}_]+$/u.test(name)) return name
  return name
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .replaceAll(/^_+(?=[^_])|(?<=[^_])_+$/g, (edge) => (original.startsWith('_') && edge === '_' ? edge : ''))
}
