import { doubling, jittered, retry } from '../concurrency/retry.ts'
import { isRolledBackForOthers } from './database-error.ts'

const pace = { tries: 6, pauseMs: jittered(doubling(20)) }

/**
 * Runs work again that PostgreSQL rolled back as the victim of a deadlock, of a serialization failure or of somebody who
 * changed the same table: nothing of it was done. Locks are taken in one order (parents before children), so this is only the safety net. `mayRepeat` is called after
 * the failure.
 */
export function withDeadlockRetry<T>(work: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
  return retry(work, { ...pace, isPassing: (error) => isRolledBackForOthers(error) && mayRepeat() })
}
