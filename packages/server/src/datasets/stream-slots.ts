import { ApiError } from '../errors.ts'

/**
 * A semaphore for each application: how many of its queries run at once, so that none takes all connections. It is taken
 * before a connection is asked for: a full pool would only say that the database cannot be reached.
 */
export type StreamSlots = {
  /** Takes a slot, waiting its turn for half a second at most, then 429; the function returned gives it back. */
  take(applicationId: string, signal: AbortSignal): (() => void) | Promise<() => void>
  /** How many are taken, of all applications. */
  readonly taken: number
  /** For how long a reader may take nothing. */
  readonly stuckReaderMs: number
}

/** Short queries are answered by the dozen in this time; long ones are not worth waiting for. */
const patienceMs = 500

/** `waiting` is in the order in which they came. */
type Queries = { running: number; readonly waiting: Set<() => void> }

export function createStreamSlots(perApplication: number, stuckReaderMs: number): StreamSlots {
  const byApplication = new Map<string, Queries>()

  function begin(applicationId: string, queries: Queries): () => void {
    queries.running++
    let isGiven = false
    return () => {
      if (isGiven) return
      isGiven = true
      queries.running--
      const [next] = queries.waiting
      if (next) next()
      else if (queries.running === 0) byApplication.delete(applicationId)
    }
  }

  function wait(applicationId: string, queries: Queries, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        queries.waiting.delete(next)
      }
      const next = (): void => {
        stop()
        resolve(begin(applicationId, queries))
      }
      const leave = (): void => {
        stop()
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        stop()
        reject(atLimit(perApplication))
      }, patienceMs)
      queries.waiting.add(next)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    stuckReaderMs,
    get taken() {
      return byApplication.values().reduce((sum, { running }) => sum + running, 0)
    },
    take(applicationId, signal) {
      signal.throwIfAborted()
      const known = byApplication.get(applicationId)
      const queries = known ?? { running: 0, waiting: new Set() }
      if (!known) byApplication.set(applicationId, queries)
      const isFree = queries.running < perApplication
      return isFree ? begin(applicationId, queries) : wait(applicationId, queries, signal)
    },
  }
}

function atLimit(limit: number): ApiError {
  const queries = limit === 1 ? '1 query' : `${limit} queries`
  const detail = `This application already runs ${queries}, its limit. Try again in a moment.`
  return new ApiError('busy', detail, { headers: { 'Retry-After': '1' } })
}
