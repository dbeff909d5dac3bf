// The streets of a base map: loaded in the background, renewed now and then, and left alone for a while when their server fails (a circuit
// breaker).

/** What is loaded, with the health of its server. */
export type Streets<T> = {
  /** What was loaded last; undefined while nothing is, but after a short wait at the first time. */
  get(): Promise<T | undefined>
  /** Told of each tile, so that a server that fails is left alone for half a minute. */
  noteTile(error?: unknown): void
  isDown(): boolean
}

export type StreetsOptions<T> = {
  load(): Promise<T>
  /** Told once, until it works again. */
  onError(error: unknown): void
  now?(): number
  firstWaitMs?: number
}

/** Something that changed on the other server is seen after so long. */
const renewMs = 60_000
/** A map that is opened waits so long for streets, and then shows the world. */
const usualFirstWaitMs = 3_000
const retryMs = 30_000
/** So many tiles in a row: one alone may be the archive's fault. */
const tolerated = 3

export function createStreets<T>(options: StreetsOptions<T>): Streets<T> {
  const { load, onError, now = () => performance.now(), firstWaitMs = usualFirstWaitMs } = options
  let value: T | undefined
  let loading: Promise<void> | undefined
  let nextLoadAt = -Infinity
  let failures = 0
  let downUntil = -Infinity
  let isReported = false

  function fail(error: unknown): void {
    if (!isReported) onError(error)
    isReported = true
  }

  async function renew(): Promise<void> {
    try {
      value = await load()
      nextLoadAt = now() + renewMs
      if (failures === 0) isReported = false
    } catch (error) {
      nextLoadAt = now() + retryMs
      fail(error)
    } finally {
      loading = undefined
    }
  }

  return {
    async get() {
      if (!loading && now() >= nextLoadAt) loading = renew()
      if (value === undefined && loading) await firstOf(loading, firstWaitMs)
      return value
    },
    noteTile(error) {
      if (error === undefined) {
        failures = 0
        isReported = false
        return
      }
      failures++
      if (failures < tolerated) return
      failures = 0
      downUntil = now() + retryMs
      fail(error)
    },
    isDown: () => now() < downUntil,
  }
}

async function firstOf(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
