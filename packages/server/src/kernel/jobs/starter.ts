/** Starts what works in the background, each by itself and again until it succeeds: a server that only said so would do half its work. */
import type { WorkWatch } from '../concurrency/work-watch.ts'

const retryMs = 5_000

export type Starter = {
  /** Resolves after the first try of each. */
  start(): Promise<void>
  close(): void
}

/** Each start fails before it has begun anything, so it may be repeated. */
export function createStarter(
  parts: Readonly<Record<string, { start(): Promise<void> }>>,
  works: WorkWatch,
  onError: (error: unknown, name: string) => void,
): Starter {
  const timers = new Set<NodeJS.Timeout>()
  let hasClosed = false
  async function attempt(name: string, start: () => Promise<void>, watch = works.part(name)): Promise<void> {
    try {
      await watch(start)
    } catch (error) {
      if (hasClosed) return
      onError(error, name)
      const timer = setTimeout(() => {
        timers.delete(timer)
        void attempt(name, start, watch)
      }, retryMs).unref()
      timers.add(timer)
    }
  }
  return {
    async start() {
      for (const [name, part] of Object.entries(parts)) if (!hasClosed) await attempt(name, part.start)
    },
    close() {
      hasClosed = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
