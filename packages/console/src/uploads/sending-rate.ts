/** The upload rate as a moving average over the last seconds, because a mean since the start lags behind. */
export interface SendingSample {
  atMs: number
  bytes: number
}

const windowMs = 5000

/** Adds a sample and drops those outside the window. */
export function withSample(samples: readonly SendingSample[], next: SendingSample): SendingSample[] {
  const kept = samples.filter(({ atMs }) => next.atMs - atMs <= windowMs)
  return [...kept, next]
}

/** Bytes per second; null until there are enough samples. */
export function sendingRate(samples: readonly SendingSample[]): number | null {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.atMs - first.atMs < 200 || last.bytes <= first.bytes) return null
  return ((last.bytes - first.bytes) / (last.atMs - first.atMs)) * 1000
}

/** The remaining seconds; null if the rate is unknown. */
export function secondsLeft(samples: readonly SendingSample[], total: number): number | null {
  const rate = sendingRate(samples)
  const sent = samples.at(-1)?.bytes ?? 0
  return rate === null ? null : Math.ceil((total - sent) / rate)
}

/** 0:12, 1:04:09 */
export function formatClock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
