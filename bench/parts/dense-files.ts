import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { testFolder } from '../../packages/driver-duckdb/testing/folder.ts'
import { type Bench, type Layer, post, publishTable, tenantSchema } from '../bench.ts'
import { type Case, ourName, type Part } from '../part.ts'
import type { Server } from '../processes.ts'
import type { Sample } from '../statistics.ts'
import { tilesAround } from '../tables.ts'
import { walk } from '../walk.ts'

const zooms = [0, 3, 6]
const rows = 10_000_000

export const denseFiles: Part = {
  name: 'denseFiles',
  about:
    'One user and one Parquet file of 10 M points in no order, read by DuckDB, nothing cached: tiles from its overview, and the rows nearest to a place.',
  seconds: 300,
  async *cases(bench) {
    const ours = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const layer = await publishPoints(bench, ours)
    yield one('the overview of a file of 10 M points is built', 's', async () => ({
      value: await buildOverview(bench, ours, layer),
    }))
    for (const zoom of zooms) {
      const paths = tilesAround([zoom], { width: 4, height: 3 }).map((place) => `/tiles/${layer.tiles}/${place}.mvt`)
      const walked = one(`tiles of zoom ${zoom} of a file of 10 M points`, 'ms', () =>
        walk(ours.url, paths, bench.headers),
      )
      yield { ...walked, longRounds: 3, wanted: { most: 300 } }
    }
    yield { ...one('the ten nearest of a file of 10 M points', 'ms', () => nearest(bench, ours, layer)), longRounds: 3 }
  },
}

const one = (work: string, unit: Case['unit'], measure: Case['contenders'][number]['measure']): Case => ({
  work,
  unit,
  better: 'less',
  longRounds: 1,
  contenders: [{ name: ourName, measure }],
})

async function nearest({ headers }: Bench, { url }: Server, { dataset }: Layer): Promise<Sample> {
  const body = JSON.stringify({ nearest: { point: [9, 47] }, limit: 10 })
  const begun = performance.now()
  const reply = await fetch(`${url}/api/v1/datasets/${dataset}/query`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  if (!reply.ok) throw new Error(await reply.text())
  return { value: performance.now() - begun }
}

/** Around towns, as the tables of the other parts. */
const pointsSql = (count: number): string => `
  SELECT i AS id, 'place ' || i AS name, (hash(i) % 1000)::INT AS pop,
    ('POINT(' || (hash(i % 400, 1) % 45000) / 1000 - 10 + ((hash(i, 2) % 100000) + (hash(i, 3) % 100000)) / 66666 - 1.5
      || ' ' || (hash(i % 400, 4) % 24000) / 1000 + 36 + ((hash(i, 5) % 100000) + (hash(i, 6) % 100000)) / 100000 - 1 || ')')::GEOMETRY('OGC:CRS84') AS geom
  FROM range(1, ${count + 1}) t(i)`

async function publishPoints({ directory, key, scale }: Bench, ours: Server): Promise<Layer> {
  const schema = await tenantSchema(ours, key)
  const application = schema.replace('app_', '').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const folder = join(directory, 'data/files', application, 'bench')
  await mkdir(folder, { recursive: true })
  const copied = `COPY (${pointsSql(rows * scale)}) TO '${join(folder, 'points.parquet')}' (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`
  await testFolder({ after: () => {} }).run(copied)
  const { id } = await post(ours, key, 'databases', { type: 'duckdb', name: 'files', db: 'bench' })
  return publishTable(ours, key, 'points', id)
}

const buildMs = 280_000

/** In seconds, from the first tile. */
async function buildOverview({ headers }: Bench, { url }: Server, { dataset }: Layer): Promise<number> {
  const begun = performance.now()
  for (const end = begun + buildMs; performance.now() < end; await setTimeout(500)) {
    await (await fetch(`${url}/tiles/${dataset}/12/2150/1440.mvt`, { headers })).arrayBuffer()
    const { overviews } = (await (await fetch(`${url}/api/v1/datasets/${dataset}`, { headers })).json()) as {
      overviews?: { status: string } | null
    }
    if (overviews?.status === 'built') return (performance.now() - begun) / 1000
  }
  throw new Error(`The overview was not built within ${buildMs / 1000} s`)
}
