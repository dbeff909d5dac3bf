/**
 * One stream of the changes of a dataset for all who follow it by the same client and key, because browsers open at most six
 * HTTP/1.1 connections to a host. It is open while somebody listens, and closed while the page has been hidden for a while.
 */
import { ApiError } from './api-error.ts'
import { sleep } from './retry.ts'
import type { DatasetEvent, WatchOptions } from './watch.ts'

/** What a stream does now. With `error`, `connecting` means that the last attempt failed and the next is due in up to a minute. */
export type ChangeStreamState =
  | { readonly kind: 'live' | 'paused' }
  | { readonly kind: 'connecting'; readonly error?: unknown }
  /** The server refuses, so nothing more will come. */
  | { readonly kind: 'refused'; readonly error: unknown }

/** The changes of a dataset, shared by all who ask the client for them. */
export interface ChangeStream {
  getState(): ChangeStreamState
  /** Tells of changes of the state; does not open the stream. Returns a function that ends it. */
  subscribe(observer: () => void): () => void
  /**
   * Opens the stream if nobody listens yet. Whoever joins a stream that is live is told `ready`, because what they have loaded may be
   * older than it. Returns a function that leaves, and closes the stream after the last one.
   */
  listen(listener: (event: DatasetEvent) => void): () => void
}

/** Follows a dataset until it is refused or aborted. */
export type Watch = (options: WatchOptions & { signal: AbortSignal }) => AsyncIterable<DatasetEvent>

const hiddenMs = 30_000
const firstRetryMs = 5_000
const longestRetryMs = 60_000

export function createChangeStream(watch: Watch): ChangeStream {
  const listeners = new Set<(event: DatasetEvent) => void>()
  const observers = new Set<() => void>()
  let state: ChangeStreamState = { kind: 'connecting' }
  let connection: AbortController | undefined
  let lastEventId: string | undefined
  let closing: ReturnType<typeof setTimeout> | undefined

  function become(next: ChangeStreamState): void {
    state = next
    for (const observer of [...observers]) observer()
  }
  /** An attempt that fails like the one before is no news. */
  function set(next: ChangeStreamState): void {
    if (next.kind !== state.kind || ('error' in next && !('error' in state))) become(next)
  }
  function tell(event: DatasetEvent): void {
    if (event.type === 'ready') set({ kind: 'live' })
    else lastEventId = event.id
    for (const listener of [...listeners]) listener(event)
  }
  function open(): void {
    connection = new AbortController()
    set({ kind: 'connecting' })
    void keepConnected({ connect, set, isLive: () => state.kind === 'live' }, connection.signal)
  }
  async function connect(signal: AbortSignal): Promise<void> {
    const onDisconnect = (): void => set({ kind: 'connecting' })
    for await (const event of watch({ signal, lastEventId, onDisconnect })) {
      if (signal.aborted) return
      tell(event)
    }
  }
  function close(): void {
    clearTimeout(closing)
    connection?.abort()
    connection = undefined
  }
  function onVisibility(): void {
    clearTimeout(closing)
    if (page()?.hidden) closing = setTimeout(pause, hiddenMs)
    else if (state.kind === 'paused') open()
  }
  function pause(): void {
    if (state.kind === 'refused') return
    close()
    set({ kind: 'paused' })
  }
  function begin(): void {
    page()?.addEventListener('visibilitychange', onVisibility)
    lastEventId = undefined
    open()
    onVisibility()
  }
  function end(): void {
    page()?.removeEventListener('visibilitychange', onVisibility)
    close()
    become({ kind: 'connecting' })
  }

  return {
    getState: () => state,
    subscribe(observer) {
      observers.add(observer)
      return () => {
        observers.delete(observer)
      }
    },
    listen(listener) {
      listeners.add(listener)
      if (listeners.size === 1) begin()
      else if (state.kind === 'live') listener({ type: 'ready', resumed: false })
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) end()
      }
    },
  }
}

/** Nothing is hidden where there is no page. */
type Page = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & { readonly hidden: boolean }
const page = (): Page | undefined => (globalThis as { document?: Page }).document

interface Connecting {
  connect(signal: AbortSignal): Promise<void>
  set(state: ChangeStreamState): void
  isLive(): boolean
}

/**
 * Connects until it is aborted or refused. A refusal of a stream that was live is tried once more, because an expired token can be
 * refreshed, while a revoked key is refused again. A dataset that was deleted does not come back.
 */
async function keepConnected({ connect, set, isLive }: Connecting, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const error = await connect(signal).catch((reason: unknown) => reason)
    if (signal.aborted) return
    const wasLive = isLive()
    if (isGone(error) || !(wasLive || isPassing(error))) return set({ kind: 'refused', error })
    set({ kind: 'connecting', ...(!wasLive && { error }) })
    if (wasLive) attempt = -1
    else await sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** attempt), signal).catch(() => {})
  }
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** Whether the server or the way to it may be better later. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
