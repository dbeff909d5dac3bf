// What a strict program of somebody else says to the packages' types.
import { anthropic, ConnectionRefused, type Handler, ProviderError, serveAgent } from '@graticule/agent'
import { type Client, createClient } from '@graticule/client'
import { DataSource, GraticuleMap } from '@graticule/map'

const shout: Handler = async function* ({ input, signal, tools }) {
  signal.throwIfAborted()
  if (tools) yield tools.mcpUrl
  for (const word of input.split(' ')) yield `${word.toUpperCase()} `
}
const claude: Handler = anthropic({ apiKey: 'k', model: 'm', tools: false })

/** Never called: only its types matter. */
export async function agents(signal: AbortSignal): Promise<number | undefined> {
  try {
    await serveAgent({ url: 'https://maps.example.org', apiKey: 'k', agentId: 'a', signal, capacity: 2 }, shout)
    // @ts-expect-error: a misspelt option
    await serveAgent({ url: 'https://maps.example.org', apiKey: 'k', agentId: 'a', capcity: 2 }, claude)
    // @ts-expect-error: not a handler
    await serveAgent({ url: 'https://maps.example.org', apiKey: 'k', agentId: 'a' }, 3)
  } catch (error) {
    if (error instanceof ConnectionRefused) return error.status
    if (error instanceof ProviderError) return error.retryAfterMs
  }
}

type City = { name: string; population: number }

/** Never called: only its types matter. */
export async function queries(signal: AbortSignal): Promise<string> {
  const client = createClient('https://maps.example.org', 'k', { retries: 0 })
  const rows: City[] = await client.datasets.query<City>('id', { attributes: ['name'] }, { signal })
  const { features } = await client.datasets.query('id', {}, { format: 'geojson' })
  const csv: string = await client.datasets.query('id', {}, { format: 'csv' })
  for await (const { population } of client.datasets.rows<City>('id', {})) rows.push({ name: csv, population })
  // @ts-expect-error: there is no such group
  client.cities.list()
  return `${rows.length} ${features.length} ${client.tiles.url('id')}`
}

/** Never called: only its types matter. */
export async function maps(client: Client): Promise<void> {
  const map = new GraticuleMap({ container: 'map', client, style: 'id', center: [13.4, 52.5], zoom: 9 })
  const source = new DataSource({ id: 'cities', svcMap: map, src: 'id', type: 'vector', selectionMode: 'multi' })
  source.addEventListener('selectionchange', ({ detail }) => detail.ids.includes('1'))
  await map.ready()
  // @ts-expect-error: a misspelt option
  new DataSource({ id: 'cities', svcMap: map, scr: 'id', type: 'vector' })
}
