import { type Bench, oneProcess, type World } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import { memoryMb, type Server } from '../processes.ts'
import { requestCase } from '../request-case.ts'
import { shuffled, tilesAround } from '../tables.ts'
import { sameTiles } from '../tile-answers.ts'
import { tilePath } from './tiles-made.ts'

const oneWorker = 'one worker'
const window = { width: 10, height: 5 }
/** More than four, so that each worker has some of them. */
const connections = 16

export const workers: Part = {
  name: 'workers',
  about:
    'A worker for each core against one worker, over 16 connections, and their memory. PostgreSQL and the load generator run on the same cores: of two, the second worker has what these leave.',
  seconds: 70,
  async *cases(bench) {
    const world = await bench.world()
    const cached = await startBoth(bench, {})
    yield tileCase(bench, world, {
      servers: cached,
      work: 'tile from the cache, a worker for each core',
      zooms: [9, 10],
    })
    await bench.stopServers()
    const making = await startBoth(bench, { TILE_CACHE_MB: '0' })
    yield tileCase(bench, world, { servers: making, work: 'tile made, a worker for each core', zooms: [10, 11, 12] })
    yield memoryCase(making)
  },
}

async function startBoth(bench: Bench, settings: Record<string, string>): Promise<Server[]> {
  const all = await bench.startGraticule(settings)
  const one = await bench.startGraticule({ ...settings, ...oneProcess })
  return [all, { ...one, name: oneWorker }]
}

type Tiles = { servers: readonly Server[]; work: string; zooms: readonly number[] }

const tileCase = (bench: Bench, { schema, points }: World, { servers, work, zooms }: Tiles): Case =>
  requestCase(bench, {
    work,
    servers,
    load: (server) => ({
      paths: shuffled(tilesAround(zooms, window)).map((place) => tilePath(server, schema, points, place)),
      headers: { 'accept-encoding': 'identity', ...bench.headers },
      connections,
    }),
    equal: sameTiles,
  })

const memoryCase = (servers: readonly Server[]): Case => ({
  work: 'resident memory, a worker for each core',
  unit: 'MB',
  better: 'less',
  contenders: servers.map((server) => ({
    name: server.name,
    measure: async () => ({ value: await memoryMb(server) }),
  })),
  longRounds: 1,
})
