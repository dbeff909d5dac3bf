import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition, not for a time. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 100_000): Promise<void> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(20)) {
    if (Date.now() > end) throw new Error('It did not happen in time')
  }
}
