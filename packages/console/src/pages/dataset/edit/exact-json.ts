/** JSON whose numbers keep all their digits: JSON.parse rounds to doubles, and a row that is saved would be another. */

interface RawJson {
  readonly rawJSON: string
}

/** In all browsers since 2025, but not in the compiler's library yet. Elsewhere numbers are rounded as usual. */
const exact = JSON as unknown as Partial<{ rawJSON(text: string): RawJson; isRawJSON(value: unknown): boolean }>

export const parseExact = (text: string): unknown => JSON.parse(text, keepDigits)

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || String(value) === context.source) return value
  return exact.rawJSON?.(context.source) ?? value
}

/** A kept number as its digits; any other value as it is. */
export const withDigits = (value: unknown): unknown => (exact.isRawJSON?.(value) ? (value as RawJson).rawJSON : value)
