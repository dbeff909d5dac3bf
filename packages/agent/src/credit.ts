/** How many bytes of text the platform still takes for one invocation. */
export type Credit = { add(bytes: number): void; take(bytes: number): Promise<void> }

/** `take` waits while nothing is left; the platform allows the last frame to overdraw. Rejects when aborted. */
export function createCredit(window: number, signal: AbortSignal): Credit {
  let left = window
  let refilled = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => refilled.resolve(), { once: true })
  return {
    add(bytes) {
      left += bytes
      if (left <= 0) return
      refilled.resolve()
      refilled = Promise.withResolvers<void>()
    },
    async take(bytes) {
      while (left <= 0 && !signal.aborted) await refilled.promise
      signal.throwIfAborted()
      left -= bytes
    },
  }
}
