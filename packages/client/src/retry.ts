// The retry policy: which requests may be repeated, and after what delay.
import { type ApiError, isProblem } from './api-error.ts'

/**
 * When a request may be repeated. `safe` changes nothing; `idempotent` may be repeated when it is unknown whether the first
 * one arrived; `once` only when the server refused it before processing; `never` has a body that is already consumed.
 */
export type Repeatability = 'safe' | 'idempotent' | 'once' | 'never'

const firstDelayMs = 300
const longestDelayMs = 8_000
/** If the server asks for a longer wait, the caller decides. */
const longestRetryAfterMs = 30_000

const byMethod: Readonly<Record<string, Repeatability>> = { GET: 'safe', PUT: 'idempotent', DELETE: 'idempotent' }

export const repeatabilityOf = (method: string): Repeatability => byMethod[method] ?? 'once'

/**
 * Whether a failed request may be sent again.
 * After 429 everything may be, because the server has not processed the request. After 503 or no response at all, the
 * request may have been processed in part, so only repeatable ones are. 502 and 504 are repeated for reads if they come from
 * a proxy: those of Graticule mean that a source failed or a query took too long, which would happen again.
 */
export function mayRepeat(repeatability: Repeatability, error: ApiError, response: Response | undefined): boolean {
  const { status, code } = error
  if (repeatability === 'never') return false
  if (status === 429) return true
  if (repeatability === 'once') return false
  if (status === 503 || code === 'network_error') return true
  return (
    repeatability === 'safe' && (status === 502 || status === 504) && response !== undefined && !isProblem(response)
  )
}

/** Exponential back-off with full jitter, at least Retry-After; undefined if that is too long. */
export function delayMs(attempt: number, response: Response | undefined, random = Math.random): number | undefined {
  const backoff = random() * Math.min(longestDelayMs, firstDelayMs * 2 ** attempt)
  const leastMs = retryAfterMs(response?.headers.get('retry-after'))
  return leastMs > longestRetryAfterMs ? undefined : leastMs + backoff
}

/** Parses Retry-After: a number of seconds or a date. */
function retryAfterMs(header: string | null | undefined): number {
  if (!header) return 0
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(milliseconds) ? 0 : Math.max(0, milliseconds)
}

/** Rejects with the signal's reason when it is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
