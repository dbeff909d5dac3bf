import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../until.ts'
import { pointsGeoJson, type UpgradeClient } from './client.ts'

export type LoadLayer = { readonly dataset: string; readonly tiles: string }
export type UpgradeLoad = ReturnType<typeof startLoad>

const emptyStyle = { version: 8, sources: {}, layers: [] }

/** What clients of a map do: each of them a series of requests, all of which must succeed. */
const habits: readonly ((client: UpgradeClient, layer: LoadLayer) => Promise<unknown>)[] = [
  async function changeRecords(client) {
    const { id } = await client.make('styles', { name: 'under load', style: emptyStyle })
    const path = `/api/v1/styles/${id}`
    await client.call('PATCH', path, { body: { description: 'changed' } })
    await client.call('PUT', `${path}/metadata/colour`, { body: { tone: 'green' } })
    const { description } = await client.get(path)
    if (description !== 'changed') throw new Error(`A change was lost: ${description}`)
    await client.call('DELETE', path)
  },
  async function read(client, { dataset, tiles }) {
    for (const list of ['styles', 'datasets', 'tilesources', 'uploads', 'apikeys', 'agents', 'contactpoints'])
      await client.get(`/api/v1/${list}?limit=5`)
    await client.get(`/api/v1/datasets/${dataset}/query?filter[depth][$gt]=2&sort=name&limit=5`)
    await client.get(`/tiles/${tiles}/index.json`)
  },
  async function look(client, { tiles }) {
    // Never the same twice, so that none is answered by the cache.
    await client.bytes(`/tiles/${tiles}/0/0/0.pbf?filter[depth][$gt]=${Math.random()}`)
  },
  async function bringFiles(client) {
    const { status, error, datasetId } = await client.upload('more.geojson', pointsGeoJson(20))
    if (status !== 'completed') throw new Error(`An upload failed: ${JSON.stringify(error)}`)
    await client.get(`/api/v1/datasets/${datasetId}/query?limit=1`)
    await client.call('DELETE', `/api/v1/datasets/${datasetId}`)
  },
]

/** What is to be found does not depend on how many requests there are, and tests share the machine. */
const pauseMs = 100

/** Clients that go on until they are stopped, one for each habit. */
export function startLoad(client: UpgradeClient, layer: LoadLayer) {
  const failures: unknown[] = []
  const turns = habits.map(() => 0)
  let isOver = false
  const running = habits.map(async (habit, index) => {
    while (!isOver && failures.length === 0) {
      await habit(client, layer).catch((error) => failures.push(error))
      turns[index] = (turns[index] ?? 0) + 1
      await sleep(pauseMs)
    }
  })
  return {
    /** Waits until every client has begun anew and done all that it does, or has failed. */
    async goOn(): Promise<void> {
      const wanted = turns.map((count) => count + 2)
      await until(() => failures.length > 0 || wanted.every((count, index) => (turns[index] ?? 0) >= count))
      if (failures.length > 0) throw failures[0]
    },
    async stop(): Promise<void> {
      isOver = true
      await Promise.all(running)
      if (failures.length > 0) throw failures[0]
    },
  }
}
