// A semaphore per application.
import { createAdmission, type Release } from '../../../kernel/concurrency/admission.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import type { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'

/**
 * Limits how many queries of one application run at once, so that none takes all connections. A slot is taken before a
 * connection, because a full pool could only report that the database is unreachable.
 */
export type StreamSlots = {
  /** Takes a slot and returns its release function. Waits at most half a second, then 429. */
  take(applicationId: string, signal: AbortSignal): Release | Promise<Release>
  /** Without waiting: `begin` gets the release, and answers whether a query has begun. False where there is no slot now. */
  tryTake(applicationId: string, begin: (release: Release) => boolean): boolean
  /** Slots in use, over all applications. */
  readonly taken: number
}

/** In this time dozens of short queries finish; waiting for long ones is not worthwhile. */
const patienceMs = 500

/** Told of each query that ends, and how long it ran or was read. */
export type OnQuery = (applicationId: string, seconds: number) => void

export type StreamSlotsOptions = {
  readonly perApplication: number
  /** The limit of an application that has fewer. */
  limitOf?(applicationId: string): number | undefined | Promise<number | undefined>
  readonly onQuery?: OnQuery
}

export function createStreamSlots({ perApplication, limitOf, onQuery }: StreamSlotsOptions): StreamSlots {
  const admission = createAdmission({ perOwner: perApplication, waitMs: patienceMs, refuse: atLimit })
  const mostOf = (own: number | undefined): number => Math.min(own ?? perApplication, perApplication)
  const take = (applicationId: string, own: number | undefined, signal: AbortSignal): Release | Promise<Release> =>
    whenReady(admission.admit(applicationId, { signal, atMost: mostOf(own) }), (release) =>
      timed(applicationId, release, onQuery),
    )

  function tryTake(applicationId: string, own: number | undefined, begin: (release: Release) => boolean): boolean {
    const release = admission.tryAdmit(applicationId, mostOf(own))
    if (!release) return false
    const isBegun = begin(timed(applicationId, release, onQuery))
    if (!isBegun) release()
    return isBegun
  }

  return {
    get taken() {
      return admission.taken
    },
    take: (applicationId, signal) => whenReady(limitOf?.(applicationId), (own) => take(applicationId, own, signal)),
    tryTake(applicationId, begin) {
      const own = limitOf?.(applicationId)
      if (!(own instanceof Promise)) return tryTake(applicationId, own, begin)
      // Whoever takes a slot the usual way hears of a failure.
      own.catch(() => {})
      return false
    },
  }
}

/** The release, which tells once how long the slot was taken. */
function timed(applicationId: string, release: Release, onQuery: OnQuery | undefined): Release {
  if (!onQuery) return release
  const begun = performance.now()
  let isOver = false
  return () => {
    release()
    if (!isOver) onQuery(applicationId, (performance.now() - begun) / 1000)
    isOver = true
  }
}

function atLimit(limit: number): ApiError {
  const queries = limit === 1 ? '1 query' : `${limit} queries`
  const detail = `This application already runs ${queries}, its limit. Try again in a moment.`
  return overLimit('queriesAtOnce', limit, detail, { headers: { 'Retry-After': '1' } })
}
