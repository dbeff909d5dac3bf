import type { ApiError } from '../errors.ts'
import { overLimit } from '../limits/limits.ts'

/** Half-life of the use that counts. */
const halfLifeMs = 30_000
/** The assumed use of a new tenant: more than a map needs, less than an attack. */
const unknownMs = 1_000
/** What waits longer than this is not overtaken any more by what is short. */
const overtakenMs = 2_000
/** Limit of remembered tenants; those with hardly any recent use are dropped first. */
const maxRemembered = 1_000

/**
 * Fair queueing: next is the tenant that used the least time lately; among those that used the same, who came first. Of one tenant what is
 * short goes before what is long, so that a row does not wait for all tiles of a map.
 */
export type FairQueue<T> = {
  readonly isEmpty: boolean
  /** Adds a job; 429 when the queue of its tenant is full. */
  add(tenant: string, item: T, isShort?: boolean): void
  /** False when it is no longer queued. */
  remove(tenant: string, item: T): boolean
  /** The next tenant and its recent use. */
  peek(): { tenant: string; usedMs: number }
  take(tenant: string): T | undefined
  used(tenant: string, ms: number): void
}

type Waiting<T> = { readonly item: T; readonly isShort: boolean; readonly since: number }

export function createFairQueue<T>(maxWaiting: number): FairQueue<T> {
  const waiting = new Map<string, Waiting<T>[]>()
  const spent = new Map<string, { ms: number; at: number }>()

  function usedMs(tenant: string): number {
    const entry = spent.get(tenant)
    return entry ? entry.ms * 0.5 ** ((performance.now() - entry.at) / halfLifeMs) : unknownMs
  }

  function removeAt(tenant: string, index: number): T | undefined {
    const items = waiting.get(tenant)
    const [taken] = items?.splice(index, 1) ?? []
    if (items?.length === 0) waiting.delete(tenant)
    return taken?.item
  }

  return {
    get isEmpty() {
      return waiting.size === 0
    },
    add(tenant, item, isShort = false) {
      const items = waiting.get(tenant) ?? []
      if (items.length >= maxWaiting) throw tooManyWaiting(maxWaiting)
      const since = performance.now()
      const behind = items.findLastIndex((one) => !isShort || one.isShort || since - one.since > overtakenMs)
      items.splice(behind + 1, 0, { item, isShort, since })
      waiting.set(tenant, items)
    },
    remove(tenant, item) {
      const index = waiting.get(tenant)?.findIndex((one) => one.item === item) ?? -1
      return index !== -1 && removeAt(tenant, index) !== undefined
    },
    peek() {
      let least = { tenant: '', usedMs: Number.POSITIVE_INFINITY }
      for (const tenant of waiting.keys()) {
        const used = usedMs(tenant)
        if (used < least.usedMs) least = { tenant, usedMs: used }
      }
      return least
    },
    take: (tenant) => removeAt(tenant, 0),
    used(tenant, ms) {
      const before = spent.has(tenant) ? usedMs(tenant) : 0
      spent.set(tenant, { ms: before + ms, at: performance.now() })
      if (spent.size <= maxRemembered) return
      for (const owner of spent.keys()) if (usedMs(owner) < 1) spent.delete(owner)
    },
  }
}

const tooManyWaiting = (limit: number): ApiError =>
  overLimit(
    'queriesWaiting',
    limit,
    `This application already has ${limit} queries waiting, its limit. Try again in a moment.`,
    { headers: { 'Retry-After': '2' } },
  )
