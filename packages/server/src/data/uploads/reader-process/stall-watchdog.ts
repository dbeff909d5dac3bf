/**
 * A watchdog that detects a reader process without progress. Rows sent and growing progress are signs of life. It runs
 * only while the server waits for the reader, because a database that is slow to take rows is not the file's fault. It
 * costs nothing per row.
 */
export type StallWatchdog = {
  await<T>(promise: Promise<T>): Promise<T>
  hear(): void
  end(): void
}

export function createStallWatchdog(stalledMs: number, onStalled: () => void): StallWatchdog {
  let heardAt = 0
  let waiting = 0
  const look = (): void => {
    if (waiting > 0 && performance.now() - heardAt > stalledMs) onStalled()
  }
  const timer = setInterval(look, Math.min(1_000, stalledMs / 4)).unref()
  const hear = (): void => {
    heardAt = performance.now()
  }
  return {
    hear,
    async await(promise) {
      hear()
      waiting++
      try {
        return await promise
      } finally {
        waiting--
      }
    },
    end: () => clearInterval(timer),
  }
}
