import { setTimeout as sleep } from 'node:timers/promises'

/** The milliseconds until it is so; throws after `withinMs`. A question that fails counts as no. */
export async function untilSo(
  isSo: () => unknown,
  withinMs: number,
  what: () => string | Promise<string>,
  everyMs = 20,
): Promise<number> {
  const begun = performance.now()
  for (;;) {
    if (
      await Promise.resolve()
        .then(isSo)
        .catch(() => false)
    )
      return performance.now() - begun
    if (performance.now() - begun > withinMs) throw new Error(`not within ${withinMs} ms: ${await what()}`)
    await sleep(everyMs)
  }
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
