import { join } from 'node:path'
import { type Bench, oneProcess, type World } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { recordAnswers } from '../record-answers.ts'
import { isGraticule, requestCase } from '../request-case.ts'
import { tilesAround } from '../tables.ts'
import { sameTiles } from '../tile-answers.ts'
import { tilePath } from './tiles-made.ts'

const places = tilesAround([9, 10], { width: 10, height: 5 })

export const cachedAnswers: Part = {
  name: 'cachedAnswers',
  about:
    'A hundred tiles from memory, gzip, with a key. `node:http` sends the same bytes with the same headers and does nothing else.',
  seconds: 90,
  async *cases(bench) {
    const world = await bench.world()
    const ours = await bench.startGraticule()
    const cached = await bench.startPeers(['martin'], { schema: world.schema })
    yield hits(bench, world, [ours, ...cached])
    await bench.stopServers()
    const single = await bench.startGraticule(oneProcess)
    const [first = ''] = ourPaths(world, single)
    const reply = await fetch(`${single.url}${first}`, { headers: packed(bench) })
    const headers = { ...packed(bench), 'if-none-match': reply.headers.get('etag') ?? '' }
    yield await againstBare(bench, single, { work: 'tile from the cache', paths: ourPaths(world, single), ratio: 0.7 })
    yield await againstBare(bench, single, { work: 'the same, unchanged: 304', paths: [first], ratio: 0.7, headers })
  },
}

const packed = ({ headers }: Bench): Record<string, string> => ({ ...headers, 'accept-encoding': 'gzip' })

const ourPaths = ({ schema, points }: World, ours: Server): string[] =>
  places.map((place) => tilePath(ours, schema, points, place))

const hits = (bench: Bench, { schema, points }: World, servers: readonly Server[]): Case =>
  requestCase(bench, {
    work: 'tile from the cache, gzip',
    servers,
    load: (server) => ({
      paths: places.map((place) => tilePath(server, schema, points, place)),
      headers: isGraticule(server) ? packed(bench) : { 'accept-encoding': 'gzip' },
    }),
    equal: sameTiles,
    wanted: { ratio: { martin: 3 } },
  })

type Recording = { work: string; paths: readonly string[]; ratio: number; headers?: Record<string, string> }

/** A bare server with what Graticule has answered. */
async function againstBare(bench: Bench, ours: Server, { work, paths, ratio, ...rest }: Recording) {
  const headers = rest.headers ?? packed(bench)
  const file = join(bench.directory, 'answers')
  await recordAnswers({ url: ours.url, paths, headers }, file)
  const bare = { ...(await bench.startScript('bare/bare-answers', { ANSWERS: file })), name: 'node:http' }
  const load = () => ({ paths, headers })
  return requestCase(bench, { work, servers: [ours, bare], load, wanted: { ratio: { 'node:http': ratio } } })
}
