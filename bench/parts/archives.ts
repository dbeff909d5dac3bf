import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bench, post, tenantSchema } from '../bench.ts'
import type { Part } from '../part.ts'
import type { PeerName } from '../peers.ts'
import type { Server } from '../processes.ts'
import { type Answer, isGraticule, requestCase } from '../request-case.ts'
import { shuffled, tilesAround } from '../tables.ts'

const places = shuffled(tilesAround([0, 1, 2, 3, 4, 5, 6], { width: 12, height: 6 }))

type Kind = { what: string; settings: Record<string, string>; cache: { cacheMb?: number }; names: readonly PeerName[] }

const kinds: readonly Kind[] = [
  { what: 'cached', settings: {}, cache: {}, names: ['martin', 'tileserver-gl-light'] },
  { what: 'not cached', settings: { TILE_CACHE_MB: '0' }, cache: { cacheMb: 0 }, names: ['martin'] },
]

export const archives: Part = {
  name: 'archives',
  about:
    'Tiles of one PMTiles archive, the base map of this repository, gzip, with a key; memory as installed and without.',
  seconds: 90,
  async *cases(bench) {
    const archive = join(bench.directory, 'archive.pmtiles')
    await copyFile('packages/assets/basemap.pmtiles', archive)
    const tiles = await publish(bench, archive)
    for (const { what, settings, cache, names } of kinds) {
      const ours = await bench.startGraticule(settings)
      const others = await bench.startPeers(names, { schema: 'public', archive, ...cache })
      yield requestCase(bench, {
        work: `tile of an archive, ${what}`,
        servers: [ours, ...others],
        load: (server) => ({
          paths: places.map((place) => archivePath(server, tiles, place)),
          headers: { 'accept-encoding': 'gzip', ...(isGraticule(server) && bench.headers) },
        }),
        equal: sameBytes,
        wanted: { ratio: { martin: 1, 'tileserver-gl-light': 10 } },
      })
      await bench.stopServers()
    }
  },
}

async function publish(bench: Bench, archive: string): Promise<string> {
  const server = await bench.startGraticule()
  const schema = await tenantSchema(server, bench.key)
  const applicationId = schema.slice('app_'.length).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const folder = join(bench.directory, 'data/files', applicationId)
  await mkdir(folder, { recursive: true })
  await copyFile(archive, join(folder, 'archive.pmtiles'))
  const { id = '' } = await post(server, bench.key, 'tilesources', {
    type: 'tilelive',
    source: 'pmtiles://archive.pmtiles',
  })
  await bench.stopServers()
  return id
}

function archivePath({ name }: Server, tiles: string, place: string): string {
  if (name === 'martin') return `/archive/${place}`
  if (name === 'tileserver-gl-light') return `/data/archive/${place}.pbf`
  return `/tiles/${tiles}/${place}.pbf`
}

function sameBytes(ours: readonly Answer[], theirs: readonly Answer[]): void {
  for (const [index, { path, body }] of theirs.entries())
    if (!ours[index]?.body.equals(body)) throw new Error(`${path} has other bytes`)
}
