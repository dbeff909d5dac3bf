// Numbers that a double would round, kept as they were written: JSON.stringify writes them back digit by digit.

type RawJson = { readonly rawJSON: string }

/** In every browser and Node since 2024, but not in the compiler's library yet. */
const exact = JSON as unknown as { rawJSON(text: string): RawJson; isRawJSON(value: unknown): value is RawJson }

/** A reviver for JSON.parse. */
export function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || String(value) === context.source) return value
  return exact.rawJSON(context.source)
}

/** A kept number as its text; any other value as it is. */
export const withDigits = (value: unknown): unknown => (exact.isRawJSON(value) ? value.rawJSON : value)
