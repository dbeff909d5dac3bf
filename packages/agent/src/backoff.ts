const firstMs = 500
const mostMs = 30_000

/** Exponential back-off with full jitter, so that workers do not reconnect all at once. */
export const backoffMs = (attempt: number, random: () => number = Math.random): number =>
  random() * Math.min(mostMs, firstMs * 2 ** attempt)
