/**
 * A client for maps with live data sources. They share the tab's stream of a dataset, and a dataset that cannot be followed is no
 * fault of theirs. The addresses of tiles get parameters of the page, such as its filter, which `DataSource` does not know.
 */
import type { Client, DatasetEvent } from '@graticule/client'
import { changeStreamOf } from './change-stream.ts'

type TileParams = NonNullable<Parameters<Client['tiles']['url']>[1]>

export function liveMapClient(client: Client, paramsOf: (id: string) => TileParams): Client {
  const url: Client['tiles']['url'] = (id, params) => client.tiles.url(id, { ...paramsOf(id), ...params })
  const watch = (id: string, { signal }: { signal?: AbortSignal }) => followShared(client, id, signal)
  const own = { tiles: { ...client.tiles, url }, datasets: { ...client.datasets, watch } }
  // It inherits the rest, because credentials may change.
  return Object.assign(Object.create(client) as Client, own)
}

async function* followShared(
  client: Client,
  datasetId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<DatasetEvent, void> {
  const stream = changeStreamOf(client, datasetId)
  // Whoever joins later has not heard that the stream is ready.
  const events: DatasetEvent[] = stream.getState().kind === 'live' ? [{ type: 'ready', resumed: false }] : []
  let wake = () => {}
  const leave = stream.listen((event) => {
    events.push(event)
    wake()
  })
  signal?.addEventListener('abort', () => wake(), { once: true })
  try {
    for (;;) {
      yield* events.splice(0)
      signal?.throwIfAborted()
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    leave()
  }
}
