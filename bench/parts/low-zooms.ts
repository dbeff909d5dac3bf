import { startPostgres } from '../../scripts/postgres.ts'
import { type Bench, type Layer, post, publishTable } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { isGraticule } from '../request-case.ts'
import { makePoints, tilesAround } from '../tables.ts'
import { walk } from '../walk.ts'
import { tilePath } from './tiles-made.ts'

const low = [0, 1, 2, 3, 4, 5, 6, 7]

export const lowZooms: Part = {
  name: 'lowZooms',
  about:
    'One user walks from the whole world to zoom 7 over 1 M points, nothing cached. The peers draw every point; Graticule draws what can be told apart, from its overviews, so these answers are not alike on purpose.',
  seconds: 200,
  async *cases(bench) {
    const { schema, points } = await bench.world()
    const ours = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const others = await bench.startPeers(['martin', 'pg_tileserv'], { schema, cacheMb: 0 })
    const places = tilesAround(low, { width: 1, height: 1 })
    const pathsOf = (server: Server) => places.map((place) => tilePath(server, schema, points, place))
    yield {
      ...walkCase('low zooms (0–7) of 1 M points in our own schema', bench, [ours, ...others], pathsOf),
      wanted: { ratio: { martin: 7, pg_tileserv: 7 } },
      longRounds: 2,
    }
    yield* externalTable(bench, ours)
  },
}

/** A table of somebody else's server, which Graticule reads as it is. */
async function* externalTable(bench: Bench, ours: Server): AsyncGenerator<Case> {
  const elsewhere = await startPostgres()
  try {
    const layer = await externalPoints(bench, ours, elsewhere.url)
    const places = tilesAround(low, { width: 4, height: 3 })
    const pathsOf = (server: Server) => places.map((place) => tilePath(server, '', layer, place))
    const one = walkCase('p95 at zooms 0–7 of 1 M points in a foreign table', bench, [ours], pathsOf)
    const contenders = one.contenders.map(({ name, measure }) => ({
      name,
      measure: async () => ({ value: (await measure()).p95Ms ?? Number.NaN }),
    }))
    yield { ...one, contenders, wanted: { most: 250 } }
  } finally {
    await elsewhere.stop()
  }
}

async function externalPoints({ key, scale }: Bench, ours: Server, url: string): Promise<Layer> {
  makePoints(url, 'public.points', 1_000_000 * scale)
  const { id } = await post(ours, key, 'databases', { name: 'elsewhere', type: 'postgres', connectionString: url })
  return publishTable(ours, key, 'points', id)
}

function walkCase(work: string, bench: Bench, servers: readonly Server[], pathsOf: (server: Server) => string[]): Case {
  const contenders = servers.map((server) => ({
    name: server.name,
    measure: () => walk(server.url, pathsOf(server), isGraticule(server) ? bench.headers : {}),
  }))
  return { work, unit: 'ms', better: 'less', contenders }
}
