import { type Bench, post, type World } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { type Answer, requestCase } from '../request-case.ts'
import { psql, shuffled, tilesAround } from '../tables.ts'

const window = { width: 12, height: 6 }
const small = [10, 11, 12]

export const rules: Part = {
  name: 'rules',
  about:
    'The same table twice, one time with the rule that a key sees the rows of its own kind (a quarter of them, by an index), and the same requests with a filter instead. Then tiles from the cache, beside those of the table without rules, while a thousand keys have a thousand values.',
  seconds: 160,
  async *cases(bench) {
    const world = await bench.world()
    psql(bench.databaseUrl, `CREATE INDEX IF NOT EXISTS points_kind ON ${world.schema}.points (kind)`)
    const making = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const ruled = await seed(bench, making)
    yield pages(bench, world, making, ruled)
    yield tiles(bench, world, making, ruled)
    await bench.stopServers()
    const keeping = await bench.startGraticule()
    yield await keptTiles(bench, world, keeping, ruled)
  },
}

type Ruled = { dataset: string; tiles: string; key: string; crowd: readonly string[] }

/** A dataset of the points with a rule, a key that sees its own kind, and a thousand with other values. */
async function seed(bench: Bench, server: Server): Promise<Ruled> {
  const send = (path: string, body: object) => post(server, bench.key, path, body)
  const where = { kind: '$key.metadata.kind' }
  const { id: dataset = '' } = await send('datasets', {
    ...{ type: 'table', name: 'ruled points', source: 'points' },
    ...{ rules: [{ users: 'anyone', levels: ['read'], where }], rulesFor: 'all' },
  })
  const { id: tiles = '' } = await send('tilesources', { type: 'dataset', source: dataset, maxZoom: 16 })
  const keyOf = async (kind: string): Promise<string> => {
    const permissions = { datasets: { execute: '*' }, tiles: { execute: '*' } }
    return (await send('apikeys', { type: 'app', permissions, metadata: { kind } })).id ?? ''
  }
  const crowd: string[] = []
  for (let n = 0; n < 1_000; n++) crowd.push(await keyOf(`nothing ${n}`))
  return { dataset, tiles, key: await keyOf('a'), crowd }
}

const filtering = 'the same filter'
const byFilter = encodeURIComponent(JSON.stringify({ kind: 'a' }))

/** The key sees a part by the rule, or asks for it. */
const contenders = (server: Server): Server[] => [server, { ...server, name: filtering }]

function pages(bench: Bench, { points }: World, server: Server, { dataset, key }: Ruled): Case {
  const ids = Array.from({ length: 500 }, (_, n) => 1 + ((n * 7919) % 100_000))
  return requestCase(bench, {
    work: '20 rows after a row',
    servers: contenders(server),
    load: ({ name }) => {
      const pathOf = (id: number): string => {
        const after = `sort=id&limit=20&filter[id][$gt]=${id}`
        return name === filtering ? `${points.dataset}/query?${after}&filter[kind]=a` : `${dataset}/query?${after}`
      }
      return {
        paths: ids.map((id) => `/api/v1/datasets/${pathOf(id)}`),
        headers: { 'x-api-key': name === filtering ? bench.key : key },
      }
    },
    equal: sameBody,
    wanted: { ratio: { [filtering]: 0.9 } },
  })
}

function tiles(bench: Bench, { points }: World, server: Server, { tiles: id, key }: Ruled): Case {
  const places = shuffled(tilesAround(small, window))
  return requestCase(bench, {
    work: 'tile made, zooms 10–12',
    servers: contenders(server),
    load: ({ name }) => ({
      paths: places.map((place) =>
        name === filtering ? `/tiles/${points.tiles}/${place}.mvt?filter=${byFilter}` : `/tiles/${id}/${place}.mvt`,
      ),
      headers: { 'accept-encoding': 'identity', 'x-api-key': name === filtering ? bench.key : key },
    }),
    wanted: { ratio: { [filtering]: 0.9 } },
  })
}

async function keptTiles(
  bench: Bench,
  { points }: World,
  server: Server,
  { tiles: id, key, crowd }: Ruled,
): Promise<Case> {
  const places = shuffled(tilesAround(small, window))
  const ask = (headers: Record<string, string>, tile: string, place: string) =>
    fetch(`${server.url}/tiles/${tile}/${place}.mvt`, { headers }).then((reply) => reply.arrayBuffer())
  for (const place of places) await ask({ 'x-api-key': key }, id, place)
  for (const [n, other] of crowd.entries()) await ask({ 'x-api-key': other }, id, places[n % places.length] ?? '')
  return requestCase(bench, {
    work: 'tile from the cache, after a thousand others',
    servers: [server, { ...server, name: 'without rules' }],
    load: ({ name }) => ({
      paths: places.map((place) => `/tiles/${name === 'without rules' ? points.tiles : id}/${place}.mvt`),
      headers: { 'accept-encoding': 'identity', 'x-api-key': name === 'without rules' ? bench.key : key },
    }),
    wanted: { ratio: { 'without rules': 0.8 } },
  })
}

function sameBody(ours: readonly Answer[], theirs: readonly Answer[]): void {
  for (const [index, { body, path }] of ours.entries())
    if (!theirs[index]?.body.equals(body)) throw new Error(`${path}: other rows`)
}
