// Credit-based flow control.

/** The bytes of text that the platform still accepts for one invocation. */
export type Credit = { add(bytes: number): void; take(bytes: number): Promise<void> }

/** `take` waits until there is credit; the platform allows the last frame to overdraw it. Rejects when aborted. */
export function createCredit(window: number, signal: AbortSignal): Credit {
  let left = window
  const waiting: (() => void)[] = []
  const resume = () => {
    for (const proceed of waiting.splice(0)) proceed()
  }
  signal.addEventListener('abort', resume, { once: true })
  return {
    add(bytes) {
      left += bytes
      if (left > 0) resume()
    },
    async take(bytes) {
      while (left <= 0 && !signal.aborted) await new Promise<void>((proceed) => waiting.push(proceed))
      signal.throwIfAborted()
      left -= bytes
    },
  }
}
