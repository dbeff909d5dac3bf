const longInteger = /[\s:,[]-?\d{16,}[\s,}\]]/

/** JSON.parse that makes bigints of integers beyond 2^53. To look at every number is slow: only where there may be one. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, longInteger.test(text) ? exactInteger : undefined)
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const isLost =
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
  return isLost ? BigInt(source) : value
}
