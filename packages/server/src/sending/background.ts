import { AsyncLocalStorage } from 'node:async_hooks'

export type Timer = NodeJS.Timeout | undefined

/** Work that belongs to no request and to no transaction. */
export type Background = {
  /** Begins now. What it throws is told to `onError`. */
  run(work: () => Promise<void>): void
  later(ms: number, work: () => void): Timer
  cancel(timer: Timer): void
  isClosed(): boolean
  /** Begins nothing more, and waits for what has begun. */
  close(): Promise<void>
}

export function createBackground(onError: (error: unknown) => void): Background {
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  // Whoever asks for work inside a transaction must not lend it that transaction.
  const outside = AsyncLocalStorage.snapshot()
  let hasClosed = false
  return {
    run(work) {
      if (hasClosed) return
      const ended = outside(work)
        .catch(onError)
        .finally(() => running.delete(ended))
      running.add(ended)
    },
    later(ms, work) {
      if (hasClosed) return undefined
      const timer = setTimeout(() => {
        timers.delete(timer)
        work()
      }, ms)
      timers.add(timer.unref())
      return timer
    },
    cancel(timer) {
      clearTimeout(timer)
      if (timer) timers.delete(timer)
    },
    isClosed: () => hasClosed,
    async close() {
      hasClosed = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
