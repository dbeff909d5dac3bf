/**
 * Long polling of running uploads, with one request at a time for all of them: a browser has six connections per server, and
 * a hundred held requests would block the console.
 */
import { ApiError, type Client, type Upload } from '@graticule/client'

export interface WatchedUploads {
  /** The running uploads and those whose overviews are built, oldest first. */
  unfinished(): readonly Upload[]
  /** `gone`: ids that no longer exist. */
  onRecords(records: readonly Upload[], gone: readonly string[]): void
  /** The key may not read uploads. */
  onRefused(error: ApiError): void
}

/** How long the server holds a request: it responds to a change of status, but a progress bar needs an update every second. */
const holdSeconds = { pending: 20, processing: 1 }
/** Between polls for overviews alone, whose progress the server does not hold requests for. */
const overviewsMs = 1000
const lostMs = 4000
/** The minimum interval between polls, in case a proxy removes the header that holds the request. */
const leastMs = 250
/** Limits the length of the URL. */
const atOnce = 50

/** `wake` polls at once, for a new upload. */
export function createUploadWatch(client: Client, watched: WatchedUploads): { wake(): void; stop(): void } {
  const ending = new AbortController()
  let waiting = new AbortController()
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    for (let open = watched.unfinished(); open.length > 0 && !ending.signal.aborted; open = watched.unfinished()) {
      try {
        await look(open)
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) {
          watched.onRefused(error)
          break
        }
        await pause(lostMs)
      }
    }
    isRunning = false
  }

  async function look(open: readonly Upload[]): Promise<void> {
    const startedAt = performance.now()
    await hold(open)
    if (performance.now() - startedAt < leastMs) await pause(leastMs)
    const ids = open.slice(0, atOnce).map(({ id }) => id)
    const records = await client.uploads.list({
      filter: { id: { $in: ids } },
      limit: atOnce,
      signal: ending.signal,
    })
    const present = new Set(records.map(({ id }) => id))
    watched.onRecords(
      records,
      ids.filter((id) => !present.has(id)),
    )
  }

  /** Waits until the processing upload, otherwise the next in the queue, changes its status. */
  async function hold(open: readonly Upload[]): Promise<void> {
    const next = open.find(({ status }) => status === 'processing') ?? open.find(({ status }) => status === 'pending')
    if (!next) return await pause(overviewsMs)
    waiting = new AbortController()
    const seconds = next.status === 'pending' ? holdSeconds.pending : holdSeconds.processing
    const signal = AbortSignal.any([waiting.signal, ending.signal])
    try {
      await client.uploads.get(next.id, { fields: ['id'], headers: { prefer: `wait=${seconds}` }, signal })
    } catch (error) {
      // The list reports uploads that are gone, and a wake-up only ends the wait.
      const isGone = error instanceof ApiError && error.status === 404
      if (!isGone && !waiting.signal.aborted) throw error
    }
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms)
      ending.signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return {
    wake() {
      if (isRunning) waiting.abort()
      else void run()
    },
    stop: () => ending.abort(),
  }
}
