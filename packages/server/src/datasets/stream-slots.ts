// A semaphore per application.
import { createAdmission, type Release } from '../concurrency/admission.ts'
import { ApiError } from '../errors.ts'

/**
 * Limits how many queries of one application run at once, so that none takes all connections. A slot is taken before a
 * connection, because a full pool could only report that the database is unreachable.
 */
export type StreamSlots = {
  /** Takes a slot and returns its release function. Waits at most half a second, then 429. */
  take(applicationId: string, signal: AbortSignal): Release | Promise<Release>
  /** Slots in use, over all applications. */
  readonly taken: number
  /** How long a reader may take nothing before it is disconnected. */
  readonly stuckReaderMs: number
}

/** In this time dozens of short queries finish; waiting for long ones is not worthwhile. */
const patienceMs = 500

export function createStreamSlots(perApplication: number, stuckReaderMs: number): StreamSlots {
  const admission = createAdmission({
    perOwner: perApplication,
    waitMs: patienceMs,
    refuse: () => atLimit(perApplication),
  })
  return {
    stuckReaderMs,
    get taken() {
      return admission.taken
    },
    take: (applicationId, signal) => admission.admit(applicationId, { signal }),
  }
}

function atLimit(limit: number): ApiError {
  const queries = limit === 1 ? '1 query' : `${limit} queries`
  const detail = `This application already runs ${queries}, its limit. Try again in a moment.`
  return new ApiError('busy', detail, { headers: { 'Retry-After': '1' } })
}
