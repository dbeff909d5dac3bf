import { setTimeout } from 'node:timers/promises'

/** Longer than the work takes on a machine that is not overloaded. */
const leastMs = 250

/** Does the work, and answers or fails no sooner than after a fixed time: how long it took tells nothing. */
export async function inTheSameTime<T>(work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work(), setTimeout(leastMs)])
  if (done.status === 'rejected') throw done.reason
  return done.value
}
