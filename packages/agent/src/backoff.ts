const firstMs = 500
const mostMs = 30_000

/** How long to wait before the next try: at random, so that workers do not come back all at once. */
export const backoffMs = (attempt: number, random: () => number = Math.random): number =>
  random() * Math.min(mostMs, firstMs * 2 ** attempt)
