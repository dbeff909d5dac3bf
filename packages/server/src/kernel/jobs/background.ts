import { AsyncLocalStorage } from 'node:async_hooks'
import { unwatched, type Watch } from '../concurrency/work-watch.ts'

export type Timer = NodeJS.Timeout | undefined

/** Background work, outside of any request and transaction. */
export type Background = {
  /** Starts now. Errors go to `onError`. */
  run(work: () => Promise<void>): void
  later(ms: number, work: () => void): Timer
  /** Begins after so many milliseconds, again and again; watched. */
  every(ms: number, work: () => Promise<void>): void
  /** For work that is done again and again in another way. */
  watch(): Watch
  cancel(timer: Timer): void
  isClosed(): boolean
  /** Starts nothing more, and waits for running work. */
  close(): Promise<void>
}

export function createBackground(onError: (error: unknown) => void, watch: () => Watch = () => unwatched): Background {
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  // The async context of the caller may hold a transaction, which the work must not inherit.
  const outside = AsyncLocalStorage.snapshot()
  let hasClosed = false
  function run(work: () => Promise<void>): void {
    if (hasClosed) return
    const ended = outside(work)
      .catch(onError)
      .finally(() => running.delete(ended))
    running.add(ended)
  }
  function later(ms: number, work: () => void): Timer {
    if (hasClosed) return undefined
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer.unref())
    return timer
  }
  function every(ms: number, work: () => Promise<void>): void {
    repeat(ms, work, watch())
  }
  function repeat(ms: number, work: () => Promise<void>, watched: Watch): void {
    later(ms, () => {
      run(() => watched(work))
      repeat(ms, work, watched)
    })
  }
  return {
    run,
    later,
    every,
    watch,
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
