import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition, not for a time: the limit guards against hanging, and a busy machine takes a minute to start a server. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 250_000): Promise<void> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(20)) {
    if (Date.now() > end) throw new Error('It did not happen in time')
  }
}
