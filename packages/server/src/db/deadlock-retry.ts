import { setTimeout as sleep } from 'node:timers/promises'
import { isRolledBackForOthers } from './database-error.ts'

/** Each attempt waits twice as long as the one before, at random, so that those who met do not meet again. */
const attempts = 6
const firstDelayMs = 10

/**
 * Runs work again that PostgreSQL rolled back as the victim of a deadlock or of a serialization failure: nothing of it was
 * done. Locks are taken in one order (parents before children), so this is the net below, not the rule. `mayRepeat` is asked
 * after the failure.
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
