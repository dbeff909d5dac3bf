import { type Bench, type Layer, publishTable, tenantSchema } from '../bench.ts'
import { type Load, runLoad } from '../load.ts'
import type { Case, Part } from '../part.ts'
import { memoryMb, type Server } from '../processes.ts'
import { isGraticule, requestCase } from '../request-case.ts'
import type { Sample } from '../statistics.ts'
import { makePoints, shuffled, tilesAround } from '../tables.ts'
import { sameTiles } from '../tile-answers.ts'
import { tilePath } from './tiles-made.ts'

const places = shuffled(tilesAround([9, 10, 11, 12], { width: 8, height: 4 }))
/** Overviews are for lower zooms; building them would take the time of the first round. */
const settings = { TILE_CACHE_MB: '0', OVERVIEW_MIN_ROWS: '1000000000' }

export const growthRows: Part = {
  name: 'growthRows',
  about:
    'Tiles made at zooms 9–12 of tables that differ in the number of rows, over 4 connections; each in a new process.',
  seconds: 260,
  async *cases(bench) {
    for (const count of bench.isQuick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000, 5_000_000]) {
      const { schema, layer } = await grownTable(bench, count)
      const ours = await bench.startGraticule(settings)
      const others = await bench.startPeers(['martin'], { schema, cacheMb: 0 })
      const curve = { plot: 'rows', x: count } as const
      const work = `tile made, zooms 9–12, ${count.toLocaleString('en')} points`
      yield growthCase(bench, { schema, layer, servers: [ours, ...others], connections: 4, work, curve })
      await bench.stopServers()
    }
  },
}

export const growthConnections: Part = {
  name: 'growthConnections',
  about: 'Tiles made at zooms 9–12 of 1 M points over as many connections at once.',
  seconds: 110,
  async *cases(bench) {
    const { schema, points: layer } = await bench.world()
    const ours = await bench.startGraticule(settings)
    const others = await bench.startPeers(['martin'], { schema, cacheMb: 0 })
    for (const connections of bench.isQuick ? [1, 64] : [1, 16, 64, 256]) {
      const curve = { plot: 'connections', x: connections } as const
      const work = `tile made, zooms 9–12, ${connections} connections`
      yield growthCase(bench, { schema, layer, servers: [ours, ...others], connections, work, curve })
    }
  },
}

async function grownTable(bench: Bench, count: number): Promise<{ schema: string; layer: Layer }> {
  const server = await bench.startGraticule(settings)
  const schema = await tenantSchema(server, bench.key)
  const table = `points_${count}`
  makePoints(bench.databaseUrl, `${schema}.${table}`, count)
  const layer = await publishTable(server, bench.key, table)
  await bench.stopServers()
  return { schema, layer }
}

type Grown = {
  schema: string
  layer: Layer
  servers: readonly Server[]
  connections: number
  work: string
  curve: NonNullable<Case['curve']>
}

const growthCase = (bench: Bench, { schema, layer, servers, connections, work, curve }: Grown): Case =>
  requestCase(bench, {
    work,
    servers,
    load: (server) => ({
      paths: places.map((place) => tilePath(server, schema, layer, place)),
      headers: { 'accept-encoding': 'identity', ...(isGraticule(server) && bench.headers) },
      connections,
    }),
    equal: sameTiles,
    curve,
    measure: measureAll,
  })

async function measureAll(bench: Bench, load: Load, server: Server): Promise<Sample> {
  const { perSecond, p95Ms, refused } = await runLoad(load, bench.seconds)
  if (refused > 0) bench.note(`${server.name} refused ${refused} requests over ${load.connections} connections`)
  return { value: perSecond, p95Ms, memoryMb: await memoryMb(server) }
}
