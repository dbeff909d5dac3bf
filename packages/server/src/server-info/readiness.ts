import { createLoadingCache } from '../concurrency/loading-cache.ts'
import type { Db } from '../db/db.ts'
import { missingMigrations } from '../db/migrate.ts'
import type { Health } from './health.ts'
import type { Storage } from './storage.ts'

/** What a load balancer asks before it sends a request: each check by its name, and whether all of them let it. */
export type ReadinessReport = { readonly isReady: boolean; readonly checks: Readonly<Record<string, string>> }

export type Readiness = { check(): Promise<ReadinessReport> }

export type ReadinessParts = {
  readonly db: Pick<Db, 'query'>
  readonly health: Health
  readonly storage: Pick<Storage, 'check'>
  /** Only where replicas are joined by a broker. */
  readonly bus?: { isConnected(): boolean } | undefined
  isStopping(): boolean
}

/** Time to live of an answer, so that probes by the thousand cost one of them. */
const trustMs = 250
/** The migrations of a running server change only when somebody restores an older database under it. */
const migrationsTrustMs = 5_000

/** `busy`: the database answered the last time and not yet this time. */
const good = ['ok', 'busy']

/** Readiness: whether this process may get requests now. It never waits for the database. */
export function createReadiness({ db, health, storage, bus, isStopping }: ReadinessParts): Readiness {
  const known = createLoadingCache<Readonly<Record<string, string>>>({ ttlMs: trustMs, max: 1 })
  const migrations = watchMigrations(db)
  const look = async () => {
    const [database, room] = await Promise.all([
      health.check().catch(() => 'unavailable'),
      storage.check().then(
        () => 'ok',
        () => 'full',
      ),
    ])
    return { database, migrations: database === 'unavailable' ? 'unknown' : migrations(), storage: room }
  }
  return {
    async check() {
      const seen = await known.get('checks', look)
      const checks = {
        process: isStopping() ? 'stopping' : 'ok',
        ...seen,
        ...(bus && { bus: bus.isConnected() ? 'ok' : 'disconnected' }),
      }
      return { isReady: Object.values(checks).every((state) => good.includes(state)), checks }
    },
  }
}

/** Tells what the last look found, and looks again in the background. The start has applied all migrations. */
function watchMigrations(db: Pick<Db, 'query'>): () => string {
  let state = 'ok'
  let isLooking = false
  let lookedAt = Number.NEGATIVE_INFINITY
  async function look(): Promise<void> {
    isLooking = true
    try {
      state = (await missingMigrations(db)).length === 0 ? 'ok' : 'missing'
      lookedAt = performance.now()
    } catch {
      // That the database does not work is for the check of the database to say.
    } finally {
      isLooking = false
    }
  }
  return () => {
    if (!isLooking && performance.now() - lookedAt > migrationsTrustMs) void look()
    return state
  }
}
