/// <reference lib="dom" />
/**
 * Streams of the changes of datasets, one for all who follow the same dataset by the same client and key. While the page is hidden
 * there is no connection; the last event's id resumes it.
 */
import type { DatasetEvents, MapClient } from './map-client.ts'
import { persist } from './persist.ts'

export interface StreamListener {
  /** Something changed, in a place that may be unknown. Also called when the stream begins, for what was loaded before it. */
  heard(event: Exclude<DatasetEvents, { type: 'ready' }> | { readonly type: 'reset' }): void
  /** The connection broke; it is tried again. */
  failed(error: unknown): void
  /** The server refuses, so nothing more will come. */
  ended(error: unknown): void
}

export type FollowedDataset = { readonly datasetId: string; readonly apiKey?: string | undefined }

type Stream = { readonly listeners: Set<StreamListener>; isReady: boolean; end(): void }

const streams = new WeakMap<MapClient, Map<string, Stream>>()

/** Returns a function that ends it. */
export function listen(client: MapClient, dataset: FollowedDataset, listener: StreamListener): () => void {
  const open = streams.get(client) ?? new Map<string, Stream>()
  streams.set(client, open)
  const key = JSON.stringify([dataset.datasetId, dataset.apiKey])
  const stream = open.get(key) ?? openStream(client, dataset, () => open.delete(key))
  open.set(key, stream)
  stream.listeners.add(listener)
  if (stream.isReady) listener.heard({ type: 'reset' })
  return () => {
    stream.listeners.delete(listener)
    if (stream.listeners.size === 0) stream.end()
  }
}

function openStream({ datasets }: MapClient, dataset: FollowedDataset, closed: () => void): Stream {
  const stream: Stream = { listeners: new Set(), isReady: false, end }
  const each = (tell: (listener: StreamListener) => void): void => [...stream.listeners].forEach(tell)
  let connection: AbortController | undefined
  let lastEventId: string | undefined

  async function connect(signal: AbortSignal, succeeded: () => void): Promise<void> {
    for await (const event of datasets.watch(dataset.datasetId, { signal, apiKey: dataset.apiKey, lastEventId })) {
      succeeded()
      take(event)
    }
  }

  function take(event: DatasetEvents): void {
    stream.isReady = true
    if (event.type !== 'ready') lastEventId = event.id
    // What was loaded before the stream began may be older than it.
    if (event.type !== 'ready') each((listener) => listener.heard(event))
    else if (!event.resumed) each((listener) => listener.heard({ type: 'reset' }))
  }

  function onVisibility(): void {
    connection?.abort()
    connection = document.hidden ? undefined : new AbortController()
    if (connection) void persist(connect, connection.signal, { failed, ended })
  }

  const failed = (error: unknown): void => each((listener) => listener.failed(error))

  function ended(error: unknown): void {
    const listeners = [...stream.listeners]
    end()
    for (const listener of listeners) listener.ended(error)
  }

  function end(): void {
    closed()
    stream.listeners.clear()
    document.removeEventListener('visibilitychange', onVisibility)
    connection?.abort()
  }

  document.addEventListener('visibilitychange', onVisibility)
  onVisibility()
  return stream
}
