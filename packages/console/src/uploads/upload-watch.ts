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

/** How long the server holds the request for one upload; shorter where others may change meanwhile. */
const holdSeconds = { alone: 20, oneOfMany: 2 }
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
  /** What the server has told of the upload that is waited for. */
  let seen: { id: string; etag: string | undefined } | undefined

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
        await pause(lostMs, ending.signal)
      }
    }
    isRunning = false
  }

  async function look(open: readonly Upload[]): Promise<void> {
    const startedAt = performance.now()
    const next = open.find(({ status }) => status === 'processing') ?? open.find(({ status }) => status === 'pending')
    if (next) await hold(next.id, open.length === 1)
    else await pause(overviewsMs, ending.signal)
    const others = open.filter((upload) => upload !== next)
    if (others.length > 0) await list(others)
    if (performance.now() - startedAt < leastMs) await pause(leastMs, ending.signal)
  }

  /** Waits until the upload is no longer as the server has told of it last. */
  async function hold(id: string, isAlone: boolean): Promise<void> {
    waiting = new AbortController()
    const { signal: woken } = waiting
    if (seen?.id !== id) seen = { id, etag: undefined }
    const { etag } = seen
    const changed = client.uploads.changed(id, {
      etag,
      seconds: isAlone ? holdSeconds.alone : holdSeconds.oneOfMany,
      signal: AbortSignal.any([woken, ending.signal]),
      onResponse({ headers }) {
        seen = { id, etag: headers.get('etag') ?? undefined }
      },
    })
    try {
      const record = await changed
      if (record) watched.onRecords([record], [])
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) watched.onRecords([], [id])
      // A wake-up only ends the wait.
      else if (!woken.aborted) throw error
    }
  }

  async function list(open: readonly Upload[]): Promise<void> {
    const ids = open.slice(0, atOnce).map(({ id }) => id)
    const filter = { id: { $in: ids } }
    const records = await client.uploads.list({ filter, limit: atOnce, signal: ending.signal })
    const present = new Set(records.map(({ id }) => id))
    const gone = ids.filter((id) => !present.has(id))
    watched.onRecords(records, gone)
  }

  return {
    wake() {
      if (isRunning) waiting.abort()
      else void run()
    },
    stop: () => ending.abort(),
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
