/**
 * Records the tiles that a map loads: transferred and uncompressed bytes, features, time. MapLibre's workers fetch tiles
 * out of the page's sight, so the map uses a custom protocol, whose requests the page handles.
 */
import type { Client } from '@graticule/client'
import { addProtocol, removeProtocol } from 'maplibre-gl'
import { serverAddress } from '../../map/map-requests.ts'

export interface TileMeasure {
  /** Transferred bytes. */
  sentBytes: number
  bytes: number
  /** `X-Tile-Features`: shown/total. */
  features: string | null
  ms: number
}

export interface TileRecorder {
  /** The URL with the custom protocol. */
  recorded(address: string): string
  get(key: string): TileMeasure | undefined
  /** The number of recorded tiles. */
  getCount(): number
  subscribe(listener: () => void): () => void
  /** Registers the protocol; returns a function that removes it. */
  start(): () => void
}

let made = 0

export function createTileRecorder(client: Pick<Client, 'transformRequest'>): TileRecorder {
  const protocol = `recorded${++made}`
  const measures = new Map<string, TileMeasure>()
  const listeners = new Set<() => void>()
  let count = 0
  const load = async ({ url }: { url: string }, { signal }: AbortController) => {
    const address = serverAddress(url.slice(protocol.length + '://'.length))
    const begun = performance.now()
    const { headers } = client.transformRequest(address)
    const response = await fetch(address, { signal, ...(headers && { headers }) })
    if (!response.ok) throw await failureOf(response)
    const data = await response.arrayBuffer()
    measures.set(keyOf(address), {
      sentBytes: Number(response.headers.get('content-length') ?? data.byteLength),
      bytes: data.byteLength,
      features: response.headers.get('x-tile-features'),
      ms: performance.now() - begun,
    })
    count++
    for (const listener of listeners) listener()
    return { data }
  }
  return {
    recorded: (address) => `${protocol}://${address}`,
    get: (key) => measures.get(key),
    getCount: () => count,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    start() {
      addProtocol(protocol, load)
      return () => removeProtocol(protocol)
    },
  }
}

const keyOf = (address: string): string => /\/(\d+\/\d+\/\d+)\.\w+(?:\?|$)/.exec(address)?.[1] ?? address

/** The message is the server's, because only the message of an error survives the transfer between threads. */
async function failureOf(response: Response): Promise<Error> {
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; requestId?: string }
  const words = problem.detail ?? `The server answered ${response.status}.`
  return new Error(problem.requestId ? `${words} (request ${problem.requestId})` : words)
}
