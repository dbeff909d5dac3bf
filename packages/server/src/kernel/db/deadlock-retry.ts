import { setTimeout as sleep } from 'node:timers/promises'
import { isRolledBackForOthers } from './database-error.ts'

/** Exponential back-off with jitter. */
const attempts = 6
const firstDelayMs = 10

/**
 * Runs work again that PostgreSQL rolled back as the victim of a deadlock, of a serialization failure or of somebody who
 * changed the same table: nothing of it was done. Locks are taken in one order (parents before children), so this is only the safety net. `mayRepeat` is called after
 * the failure.
 */
export async function withDeadlockRetry<T>(work: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isRolledBackForOthers(error) || !mayRepeat()) throw error
      await sleep(Math.random() * firstDelayMs * 2 ** attempt)
    }
  }
}
