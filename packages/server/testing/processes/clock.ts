const now = performance.now.bind(performance)
let aheadMs = 0

/**
 * Lets that much time be over at once for all that this process trusts for a while: how long is measured by `performance.now()`
 * alone (monotonic-time.test.ts). Timers, other threads and the database go on as they are. The clock is never set back.
 */
export function later(ms: number): void {
  aheadMs += ms
  performance.now = () => now() + aheadMs
}
