import type { Bench, Layer, World } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import { memoryMb, type Server } from '../processes.ts'
import { isGraticule, requestCase } from '../request-case.ts'
import { shuffled, tilesAround } from '../tables.ts'
import { sameTiles } from '../tile-answers.ts'

const window = { width: 12, height: 6 }
const dense = [8, 9]
const small = [10, 11, 12]

/** Where each server has the tiles of a table. */
export function tilePath({ name }: Server, schema: string, layer: Layer, place: string): string {
  if (name === 'martin') return `/${layer.table}/${place}`
  if (name === 'pg_tileserv') return `/${schema}.${layer.table}/${place}.pbf`
  if (name === 'tipg') return `/collections/${schema}.${layer.table}/tiles/WebMercatorQuad/${place}`
  return `/tiles/${layer.tiles}/${place}.mvt`
}

export const tilesMade: Part = {
  name: 'tilesMade',
  about:
    'Tiles made from the tables, none from a cache, uncompressed: a window of 12 by 6 tiles at each zoom over 1 M points or 100 k areas. The memory is that of the whole process tree after all of this.',
  seconds: 340,
  async *cases(bench) {
    const world = await bench.world()
    const ours = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const others = await bench.startPeers(['martin', 'pg_tileserv', 'tipg'], { schema: world.schema, cacheMb: 0 })
    const servers = [ours, ...others]
    for (const layer of [world.points, world.areas]) {
      yield tileCase(bench, world, { servers, layer, zooms: dense, what: 'zooms 8–9 (dense)', martin: 2 })
      yield tileCase(bench, world, { servers, layer, zooms: small, what: 'zooms 10–12 (small)', martin: 1.2 })
    }
    yield memoryCase(servers)
  },
}

type Tiles = { servers: Server[]; layer: Layer; zooms: readonly number[]; what: string; martin: number }

function tileCase(bench: Bench, { schema }: World, { servers, layer, zooms, what, martin }: Tiles): Case {
  const places = shuffled(tilesAround(zooms, window))
  return requestCase(bench, {
    work: `tile made, ${what}, ${layer.table}`,
    servers,
    load: (server) => ({
      paths: places.map((place) => tilePath(server, schema, layer, place)),
      headers: { 'accept-encoding': 'identity', ...(isGraticule(server) && bench.headers) },
    }),
    equal: sameTiles,
    wanted: { ratio: { martin, pg_tileserv: 2, tipg: 5 } },
  })
}

const memoryCase = (servers: readonly Server[]): Case => ({
  work: 'resident memory after tiles of 1 M rows',
  unit: 'MB',
  better: 'less',
  contenders: servers.map((server) => ({
    name: server.name,
    measure: async () => ({ value: await memoryMb(server) }),
  })),
  wanted: { most: 250 },
  longRounds: 1,
})
