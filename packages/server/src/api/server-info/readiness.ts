import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import type { Health } from './health.ts'
import { type CheckState, type NeedsParts, watchNeeds } from './needs-watch.ts'
import type { StorageMonitor } from './storage.ts'

/** What a load balancer asks before it sends a request: each check by its name, whether all of them let it, and why not. */
export type ReadinessReport = {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
  /** `check: what is missing`, for everybody to read: names, no messages of the database. */
  readonly reasons: readonly string[]
}

export type Readiness = {
  check(): Promise<ReadinessReport>
  /** Looks at everything once, so that the first answer is right. */
  settle(): Promise<void>
}

export type ReadinessParts = NeedsParts & {
  readonly health: Health
  readonly storage: Pick<StorageMonitor, 'state'>
  /** Only where replicas are joined by a broker. */
  readonly bus?: { isConnected(): boolean } | undefined
  /** Background work that fails, by its name. */
  failing(): readonly string[]
  isStopping(): boolean
}

/** Time to live of an answer, so that probes by the thousand cost one of them. */
const trustMs = 250
const settleMs = 5_000
const maxReasons = 20

/** `busy`: the database answered the last time and not yet this time. */
const good = ['ok', 'busy']

/** Readiness: whether this process may get requests now. It never waits for the database. */
export function createReadiness({ health, storage, bus, failing, isStopping, ...parts }: ReadinessParts): Readiness {
  const states = createLoadingCache<Readonly<Record<string, CheckState>>>({ ttlMs: trustMs, max: 1 })
  const needs = watchNeeds(parts)
  const look = async (): Promise<Record<string, CheckState>> => {
    const [database, room] = await Promise.all([health.check().catch(() => 'unavailable'), storage.state()])
    return {
      database: { state: database, reasons: [] },
      ...(database === 'unavailable' ? unknown(needs.look()) : needs.look()),
      storage: { state: room, reasons: [] },
    }
  }
  return {
    settle: () => needs.settle(settleMs),
    async check() {
      const seen = await states.get('checks', look)
      const all: Record<string, CheckState> = {
        process: { state: isStopping() ? 'stopping' : 'ok', reasons: [] },
        ...seen,
        work: workSeen(failing()),
        ...(bus && { bus: { state: bus.isConnected() ? 'ok' : 'disconnected', reasons: [] } }),
      }
      const checks = Object.fromEntries(Object.entries(all).map(([name, { state }]) => [name, state]))
      const isReady = Object.values(checks).every((state) => good.includes(state))
      return { isReady, checks, reasons: isReady ? [] : reasonsOf(all) }
    },
  }
}

const workSeen = (names: readonly string[]): CheckState => ({
  state: names.length === 0 ? 'ok' : 'failing',
  reasons: names,
})

/** Without the database nothing is known of what it has. */
const unknown = (seen: Readonly<Record<string, CheckState>>): Record<string, CheckState> =>
  Object.fromEntries(Object.keys(seen).map((name) => [name, { state: 'unknown', reasons: [] }]))

function reasonsOf(all: Readonly<Record<string, CheckState>>): string[] {
  const reasons = Object.entries(all)
    .filter(([, { state }]) => !good.includes(state))
    .flatMap(([name, { state, reasons: own }]) => (own.length > 0 ? own : [state]).map((what) => `${name}: ${what}`))
  const rest = reasons.length - maxReasons
  return rest > 0 ? [...reasons.slice(0, maxReasons), `and ${rest} more`] : reasons
}
