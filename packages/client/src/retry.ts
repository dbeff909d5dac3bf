import { type ApiError, isProblem } from './api-error.ts'

/**
 * How often a request may reach the server. `safe` changes nothing there; `idempotent` may be repeated when nobody knows
 * whether the first one arrived; `once` only when the server has refused it unheard; `never` has a body that is gone.
 */
export type Repeatability = 'safe' | 'idempotent' | 'once' | 'never'

const firstDelayMs = 300
const longestDelayMs = 8_000
/** A server that asks for more patience than this is better answered by the caller. */
const longestRetryAfterMs = 30_000

const byMethod: Readonly<Record<string, Repeatability>> = { GET: 'safe', PUT: 'idempotent', DELETE: 'idempotent' }

export const repeatabilityOf = (method: string): Repeatability => byMethod[method] ?? 'once'

/**
 * Whether a failed request may be sent again.
 * 429 is refused before anything is done, so everything may be. 503 may come from the middle of the work, and no answer at
 * all says nothing about it: only what can be repeated is. 502 and 504 are repeated for reads, when they are a proxy's word:
 * Graticule's own mean that a source failed or a query took too long, which the next try would do again.
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

/** Full jitter on exponential back-off, never sooner than the server asks; nothing when that is too long to wait for. */
export function delayMs(attempt: number, response: Response | undefined, random = Math.random): number | undefined {
  const backoff = random() * Math.min(longestDelayMs, firstDelayMs * 2 ** attempt)
  const asked = retryAfterMs(response?.headers.get('retry-after'))
  return asked > longestRetryAfterMs ? undefined : asked + backoff
}

/** Retry-After is a number of seconds or a date. */
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
