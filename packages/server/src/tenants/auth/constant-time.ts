import { setTimeout } from 'node:timers/promises'

/** Longer than the work usually takes. */
const leastMs = 250

/** Constant-time response against timing attacks: resolves or rejects no sooner than after a fixed time. */
export async function inConstantTime<T>(work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work(), setTimeout(leastMs)])
  if (done.status === 'rejected') throw done.reason
  return done.value
}
