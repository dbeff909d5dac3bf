import { setTimeout } from 'node:timers/promises'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'

/** Health check of the database that does not wait in the queue for a connection. */
export type Health = {
  /** `busy`: the last probe was answered, this one not yet. Throws `unavailable` when the database does not work. */
  check(): Promise<'ok' | 'busy'>
}

/** A probe that takes longer counts as busy. */
const promptMs = 40

/**
 * After so long without an answer the database is taken to be lost. The embedded one runs in the process and cannot be lost
 * by the network, but building an index over a large upload may keep it busy for minutes.
 */
const patienceMs = { postgres: 10_000, embedded: 600_000 }

export function createHealth(db: Pick<Db, 'query' | 'kind'>): Health {
  let pending: { promise: Promise<'ok'>; since: number } | undefined
  let lastFailure: unknown

  /** Single-flight: many checks at once share one query, so that they cannot load the database. */
  function probe(): { promise: Promise<'ok'>; since: number } {
    if (pending) return pending
    const promise = db.query(sql`SELECT 1`).then(
      () => {
        lastFailure = undefined
        pending = undefined
        return 'ok' as const
      },
      (error) => {
        lastFailure = error
        pending = undefined
        throw error
      },
    )
    promise.catch(() => undefined)
    pending = { promise, since: performance.now() }
    return pending
  }

  return {
    async check() {
      const { promise, since } = probe()
      const answered = await Promise.race([promise, setTimeout(promptMs, 'busy' as const)])
      if (answered === 'ok') return 'ok'
      if (lastFailure !== undefined) throw lastFailure
      if (performance.now() - since > patienceMs[db.kind]) throw silent()
      return 'busy'
    },
  }
}

const silent = (): ApiError =>
  new ApiError('unavailable', 'The database does not answer.', { headers: { 'Retry-After': '2' } })
