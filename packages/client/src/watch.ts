// Follows the changes of a dataset over one connection after the other.
import { ApiError, problemError } from './api-error.ts'
import { readEvents } from './event-stream.ts'
import { delayMs, mayRepeat, sleep } from './retry.ts'
import type { Problem } from './types.ts'

/** A box in longitude and latitude: west, south, east, north. */
export type Box = [west: number, south: number, east: number, north: number]

/** What was written to a dataset, by one statement or by several. */
export interface DatasetChange<Key = unknown> {
  readonly type: 'change'
  readonly id: string
  /** Different after each change. */
  readonly version: string
  readonly operations: ('insert' | 'update' | 'delete' | 'truncate')[]
  /** How many rows were written; null if unknown. */
  readonly rows: number | null
  /** Primary keys, arrays where a key has several columns. Null if unknown: any row may have changed. */
  readonly keys: Key[] | null
  /** Where rows were before and are now. Null if unknown: anywhere. */
  readonly boxes: Box[] | null
}

/**
 * The events of `datasets.watch`. `ready`: from now on no change is missed; again after each reconnection. With `scope` only what is
 * written through the server is told, because the table is in another database. `reset`: changes were missed, so read everything again.
 */
export type DatasetEvent<Key = unknown> =
  | { readonly type: 'ready'; readonly resumed: boolean; readonly scope?: 'graticule' }
  | DatasetChange<Key>
  | { readonly type: 'reset'; readonly id: string; readonly reason: string }

export interface WatchOptions {
  /** Continues behind this event. */
  lastEventId?: string | undefined
  /** Called when a connection has broken, before it is opened again; the next `ready` says that it is. */
  onDisconnect?: (() => void) | undefined
}

/** Opens the stream behind an event id. */
export type OpenChanges = (lastEventId: string | undefined, signal: AbortSignal) => AsyncIterable<string>

/** The server breaks a silence of 11 to 19 seconds with a sign of life, so that this is three of them that did not come. */
const silenceMs = 60_000

/**
 * Yields events for ever: a connection that breaks is opened again, with back-off, behind the last event. Rejects if the server
 * refuses, and if the first connection fails. Leaving the loop or aborting ends the request.
 */
export async function* watchChanges<Key>(
  open: OpenChanges,
  options: WatchOptions & { signal?: AbortSignal | undefined },
): AsyncGenerator<DatasetEvent<Key>, void> {
  let { lastEventId } = options
  let isKnown = false
  const onId = (id: string): void => {
    lastEventId = id
  }
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const { event, data } of readConnection(open, lastEventId, options.signal, onId)) {
        isKnown = true
        attempt = 0
        yield { ...data, type: event, ...(event !== 'ready' && { id: lastEventId }) } as DatasetEvent<Key>
      }
    } catch (thrown) {
      if (!isKnown || !(thrown instanceof ApiError) || !isPassing(thrown)) throw thrown
    }
    if (!isKnown) throw new ApiError({ status: 0, code: 'truncated', message: 'The stream ended before it began.' })
    options.onDisconnect?.()
    await sleep(delayMs(attempt, undefined) ?? 0, options.signal)
  }
}

const isPassing = (error: ApiError): boolean => error.code === 'timeout' || mayRepeat('safe', error, undefined)

async function* readConnection(
  open: OpenChanges,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
  onId: (id: string) => void,
): AsyncGenerator<{ event: string; data: object }, void> {
  const connection = openWatchdog(signal)
  try {
    for await (const { event, data } of readEvents(connection.guard(open(lastEventId, connection.signal)), onId)) {
      const payload = JSON.parse(data)
      if (event === 'error') throw problemError(payload as Problem, 0)
      yield { event, data: payload }
    }
  } finally {
    connection.end()
  }
}

/** Aborts a connection that is silent for too long: a proxy or a sleeping machine may have lost it without a word. */
function openWatchdog(signal: AbortSignal | undefined) {
  const controller = new AbortController()
  const silent = new ApiError({ status: 0, code: 'timeout', message: `Nothing came for ${silenceMs / 1_000} s.` })
  const abort = (): void => controller.abort(signal?.reason)
  let timer: ReturnType<typeof setTimeout> | undefined
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
    async *guard(pieces: AsyncIterable<string>): AsyncGenerator<string, void> {
      for await (const piece of pieces) {
        clearTimeout(timer)
        timer = setTimeout(() => controller.abort(silent), silenceMs)
        yield piece
      }
    },
  }
}
