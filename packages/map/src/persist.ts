/// <reference lib="dom" />
/** Repeats what fails for a while, with back-off, until it is refused or aborted. */

type Outcome = {
  /** Once for each time that it does not work. */
  failed(error: unknown): void
  /** It will not be tried again. */
  ended(error: unknown): void
}

export const retryMs = 5_000
const maxRetryMs = 60_000

/** `work` calls `succeeded` when it works again. */
export async function persist(
  work: (signal: AbortSignal, succeeded: () => void) => Promise<void>,
  signal: AbortSignal,
  { failed, ended }: Outcome,
): Promise<void> {
  for (let pauseMs = 0; !signal.aborted; ) {
    const error = await work(signal, () => {
      pauseMs = 0
    }).then(
      () => undefined,
      (reason: unknown) => ({ reason }),
    )
    if (!error || signal.aborted) return
    if (!isPassing(error.reason)) return ended(error.reason)
    if (pauseMs === 0) failed(error.reason)
    pauseMs = Math.min(maxRetryMs, Math.max(retryMs, pauseMs * 2))
    await sleep(pauseMs)
  }
}

/** Whether the data may not be read, or are gone. */
export const isRefusal = (error: unknown): boolean =>
  [401, 403, 404, 410].includes((error as { status?: number })?.status ?? 0)

/** Whether the server or the way to it may be better later. */
function isPassing(error: unknown): boolean {
  const { status = 0 } = error as { status?: number }
  return status === 0 || status === 429 || status >= 500
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
