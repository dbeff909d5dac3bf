import { setTimeout as sleep } from 'node:timers/promises'

type Condition = () => boolean | Promise<boolean>

/** Waits for a condition, not for a time: the limit guards against hanging, and a busy machine takes a minute to start a server. */
export async function until(condition: Condition, ms = 250_000): Promise<void> {
  for (const end = Date.now() + ms; !(await condition()); await sleep(20)) {
    if (Date.now() > end) throw new Error('It did not happen in time')
  }
}

/** For what must not happen, of which no event tells: the condition holds for all of this time. */
export async function stays(condition: Condition, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(Math.min(ms, 20))) {
    if (!(await condition())) throw new Error('It did not stay so')
  }
  if (!(await condition())) throw new Error('It did not stay so')
}
