/**
 * The rate of an upload as a moving average over the last seconds, because a mean since the start lags behind. What is counted
 * are bytes while a file is sent, and the progress (0 to 1) while the server works on it.
 */
export interface RateSample {
  atMs: number
  amount: number
}

const windowMs = 5000

/** Adds a sample and drops those outside the window. */
export function withSample(samples: readonly RateSample[], next: RateSample): RateSample[] {
  const kept = samples.filter(({ atMs }) => next.atMs - atMs <= windowMs)
  return [...kept, next]
}

/** The amount per second; null until there are enough samples. */
export function rateOf(samples: readonly RateSample[]): number | null {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.atMs - first.atMs < 200 || last.amount <= first.amount) return null
  return ((last.amount - first.amount) / (last.atMs - first.atMs)) * 1000
}

/** The remaining seconds; null if the rate is unknown. */
export function secondsLeft(samples: readonly RateSample[], total: number): number | null {
  const rate = rateOf(samples)
  const done = samples.at(-1)?.amount ?? 0
  return rate === null ? null : Math.ceil((total - done) / rate)
}

/** 0:12, 1:04:09 */
export function formatClock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
