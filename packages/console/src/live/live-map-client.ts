/**
 * A client for maps with live data sources. They share the page's stream of a dataset, whose sign says whether it is followed, so a
 * dataset that cannot be is no fault of theirs. The addresses of tiles get parameters of the page, such as its filter, which
 * `DataSource` does not know.
 */
import type { ChangeStream, Client } from '@graticule/client'

type TileParams = NonNullable<Parameters<Client['tiles']['url']>[1]>

export function liveMapClient(client: Client, paramsOf: (id: string) => TileParams): Client {
  const url: Client['tiles']['url'] = (id, params) => client.tiles.url(id, { ...paramsOf(id), ...params })
  const changeStream: Client['datasets']['changeStream'] = (id, params) =>
    withoutState(client.datasets.changeStream(id, params))
  const own = { tiles: { ...client.tiles, url }, datasets: { ...client.datasets, changeStream } }
  // It inherits the rest, because credentials may change.
  return Object.assign(Object.create(client) as Client, own)
}

const live = { kind: 'live' } as const

const withoutState = ({ listen }: ChangeStream): ChangeStream => ({
  listen,
  getState: () => live,
  subscribe: () => () => {},
})
