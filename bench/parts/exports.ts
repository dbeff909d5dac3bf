import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Bench, oneProcess, type World } from '../bench.ts'
import { type Case, ourName, type Part } from '../part.ts'
import { memoryMb, type Server } from '../processes.ts'
import { percentile, type Sample } from '../statistics.ts'

const run = promisify(execFile)
const slowReaders = 10

export const exports: Part = {
  name: 'exports',
  about:
    'All rows of the table of points, written to a file, against COPY of the same text by psql; and readers that take 20 KB a second each.',
  seconds: 60,
  async *cases(bench) {
    const world = await bench.world()
    const ours = await bench.startGraticule({ ...oneProcess, STREAMS_PER_APPLICATION: '64' })
    yield exportCase(bench, world, ours, 'geojson', featureSql(world))
    yield exportCase(
      bench,
      world,
      ours,
      'csv',
      `SELECT id, name, pop, kind, ST_AsText(geom, 9) FROM ${world.schema}.points`,
    )
    await bench.stopServers()
    yield slowCase(bench, world, await bench.startGraticule(oneProcess))
  },
}

const featureSql = ({ schema }: World): string =>
  `SELECT '{"type":"Feature","id":' || id || ',"geometry":' || ST_AsGeoJSON(geom, 9) || ',"properties":{"id":' || id ||
   ',"name":' || to_json(name)::text || ',"pop":' || pop || ',"kind":' || to_json(kind)::text || '}}' FROM ${schema}.points`

function exportCase(bench: Bench, { points }: World, { url }: Server, format: string, sql: string): Case {
  const file = (name: string) => join(bench.directory, `${name}.${format}`)
  const copy = format === 'csv' ? 'CSV' : `CSV QUOTE E'\\x01' DELIMITER E'\\x02'`
  const ours = () => {
    const address = `${url}/api/v1/datasets/${points.dataset}/query?format=${format}`
    return timed('curl', ['-sf', '-H', `x-api-key: ${bench.key}`, '-o', file('ours'), address])
  }
  const theirs = () =>
    timed('psql', [bench.databaseUrl, '-qc', `\\copy (${sql.replaceAll('\n', ' ')}) TO '${file('theirs')}' ${copy}`])
  const equal = async (): Promise<void> => {
    await Promise.all([ours(), theirs()])
    const [mine, other] = await Promise.all([file('ours'), file('theirs')].map(async (one) => (await stat(one)).size))
    const difference = Math.abs(1 - (mine ?? 0) / (other ?? 0))
    if (!(difference < 0.05)) throw new Error(`${other} bytes and not ${mine}`)
  }
  return {
    work: `all rows as ${format}`,
    unit: 's',
    better: 'less',
    contenders: [
      { name: ourName, measure: ours },
      { name: 'COPY', measure: theirs, equal },
    ],
    wanted: { ratio: { COPY: 1 } },
    longRounds: 4,
  }
}

async function timed(command: string, parameters: string[]): Promise<Sample> {
  const begun = performance.now()
  await run(command, parameters)
  return { value: (performance.now() - begun) / 1000 }
}

/** That an answer is made only as fast as it is taken: the memory stays, and others do not wait. */
const slowCase = (bench: Bench, { points }: World, server: Server): Case => ({
  work: `most memory with ${slowReaders} slow readers of all rows`,
  unit: 'MB',
  better: 'less',
  contenders: [{ name: ourName, measure: () => readSlowly(bench, server, points.dataset) }],
  wanted: { most: 250 },
  longRounds: 1,
})

async function readSlowly({ headers, isQuick }: Bench, server: Server, dataset: string): Promise<Sample> {
  const url = `${server.url}/api/v1/datasets/${dataset}/query?format=geojson`
  const readers = await Promise.all(Array.from({ length: slowReaders }, () => openSlowly(url, headers)))
  const latencies: number[] = []
  let most = 0
  for (const end = performance.now() + (isQuick ? 4_000 : 10_000); performance.now() < end; await setTimeout(50)) {
    const begun = performance.now()
    await (await fetch(`${server.url}/api/v1/config`, { headers })).arrayBuffer()
    latencies.push(performance.now() - begun)
    most = Math.max(most, await memoryMb(server))
  }
  for (const reader of readers) reader.destroy()
  return { value: most, p95Ms: percentile(latencies, 0.95) }
}

function openSlowly(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const pull = setInterval(() => response.read(2_000), 100)
      response.on('close', () => clearInterval(pull))
      response.on('error', () => undefined)
      response.pause()
      resolve(response)
    }).on('error', reject)
  })
}
