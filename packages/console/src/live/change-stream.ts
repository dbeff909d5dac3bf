/**
 * One stream of changes per dataset and tab, shared by all that show the dataset, because browsers open at most six HTTP/1.1
 * connections to a host. It is open while somebody listens, and closed when the page has been hidden for a while.
 */
import { ApiError, type Client, type DatasetEvent } from '@graticule/client'
import { pageVisibility, type Visibility } from './visibility.ts'

export type LiveState =
  | { readonly kind: 'connecting' | 'live' | 'paused' }
  /** The server refuses to let this dataset be followed. */
  | { readonly kind: 'refused'; readonly reason: string }

export interface ChangeStream {
  getState(): LiveState
  /** Tells of changes of the state; does not open the stream. */
  subscribe(listener: () => void): () => void
  /** Opens the stream if nobody listens yet. Returns a function that leaves, and closes it after the last one. */
  listen(listener: (event: DatasetEvent) => void): () => void
}

const hiddenMs = 30_000
const firstRetryMs = 5_000
const longestRetryMs = 60_000

type Watching = { readonly datasets: Pick<Client['datasets'], 'watch'> }

const streams = new WeakMap<Watching, Map<string, ChangeStream>>()

/** The stream of a dataset in this tab, for the credentials of the client. */
export function changeStreamOf(client: Watching, datasetId: string): ChangeStream {
  const known = streams.get(client) ?? new Map<string, ChangeStream>()
  streams.set(client, known)
  const stream = known.get(datasetId) ?? createChangeStream(client, datasetId, pageVisibility)
  known.set(datasetId, stream)
  return stream
}

export function createChangeStream(client: Watching, datasetId: string, visibility: Visibility): ChangeStream {
  const listeners = new Set<(event: DatasetEvent) => void>()
  const observers = new Set<() => void>()
  let state: LiveState = { kind: 'connecting' }
  let connection: AbortController | undefined
  let lastEventId: string | undefined
  let closing: ReturnType<typeof setTimeout> | undefined
  let stopObserving: (() => void) | undefined

  function set(next: LiveState): void {
    if (next.kind === state.kind) return
    state = next
    for (const observer of observers) observer()
  }
  function take(event: DatasetEvent): void {
    if (event.type === 'ready') set({ kind: 'live' })
    else lastEventId = event.id
    for (const listener of listeners) listener(event)
  }
  function open(): void {
    connection = new AbortController()
    set({ kind: 'connecting' })
    void follow({ connect, set, isLive: () => state.kind === 'live' }, connection.signal)
  }
  async function connect(signal: AbortSignal): Promise<void> {
    const onDisconnect = () => set({ kind: 'connecting' })
    for await (const event of client.datasets.watch(datasetId, { signal, lastEventId, onDisconnect })) {
      if (signal.aborted) return
      take(event)
    }
  }
  function close(): void {
    clearTimeout(closing)
    connection?.abort()
    connection = undefined
  }
  function onVisibility(): void {
    clearTimeout(closing)
    if (visibility.isHidden()) closing = setTimeout(pause, hiddenMs)
    else if (state.kind === 'paused') open()
  }
  function pause(): void {
    if (state.kind === 'refused') return
    close()
    set({ kind: 'paused' })
  }
  function begin(): void {
    stopObserving = visibility.subscribe(onVisibility)
    lastEventId = undefined
    open()
    onVisibility()
  }
  function end(): void {
    stopObserving?.()
    close()
    set({ kind: 'connecting' })
  }

  return {
    getState: () => state,
    subscribe(listener) {
      observers.add(listener)
      return () => observers.delete(listener)
    },
    listen(listener) {
      listeners.add(listener)
      if (listeners.size === 1) begin()
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) end()
      }
    },
  }
}

interface Following {
  connect(signal: AbortSignal): Promise<void>
  set(state: LiveState): void
  isLive(): boolean
}

/**
 * Connects until it is aborted or refused. A refusal of a stream that was live is tried once more: an expired token can be
 * refreshed, while a revoked key or a deleted dataset is refused again.
 */
async function follow({ connect, set, isLive }: Following, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const error = await connect(signal).catch((reason: unknown) => reason)
    if (signal.aborted) return
    const wasLive = isLive()
    if (!isPassing(error) && !wasLive) return set({ kind: 'refused', reason: reasonOf(error) })
    set({ kind: 'connecting' })
    if (wasLive) attempt = -1
    else await sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** attempt), signal)
  }
}

/** Whether the server or the way to it may be better later. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 0 || error.status === 429 || error.status >= 500
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Ends early when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}
