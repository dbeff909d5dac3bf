/** Starts what works in the background, each by itself and again until it succeeds: a server that only said so would do half its work. */
import type { WorkWatch } from '../concurrency/work-watch.ts'
import { createBackground } from './background.ts'

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
  const { isClosed, later, close } = createBackground(() => undefined)
  async function attempt(name: string, start: () => Promise<void>, watch = works.part(name)): Promise<void> {
    try {
      await watch(start)
    } catch (error) {
      if (isClosed()) return
      onError(error, name)
      later(retryMs, () => void attempt(name, start, watch))
    }
  }
  return {
    async start() {
      for (const [name, part] of Object.entries(parts)) if (!isClosed()) await attempt(name, part.start)
    },
    close: () => void close(),
  }
}
