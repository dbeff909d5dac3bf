import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pmtilesOf } from '../packages/server/testing/tile-archives.ts'
import { startPostgres } from '../scripts/postgres.ts'
import { type Load, requestRate } from './load.ts'
import { type Recorded, recordAnswers } from './record-answers.ts'
import { inTurns, median, startServer, stopServer } from './server.ts'
import { psql } from './tile-data.ts'

const port = 18_184
const barePort = 18_185
const url = `http://127.0.0.1:${port}`
const connections = 4
const archiveZoom = 7
const archiveTileBytes = 6_000

type Case = { name: string; paths: readonly string[]; headers: Record<string, string>; cacheMb?: string }

/** Answers from memory and from archives, against node:http sending the same bytes with the same headers. */
export async function httpAnswers(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: key, LOG_LEVEL: 'warn' }
  const start = (cacheMb = '256') =>
    startServer('packages/server/bin/graticule.js', port, { ...env, TILE_CACHE_MB: cacheMb })
  try {
    const seeding = await start()
    const cases = await seed(key, postgres.url, directory)
    await stopServer(seeding)
    const lines: string[] = []
    for (const one of cases) {
      const server = await start(one.cacheMb)
      try {
        lines.push(await measure(one, join(directory, 'answers')))
        console.error(lines.at(-1))
      } finally {
        await stopServer(server)
      }
    }
    return report(lines)
  } finally {
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

async function measure({ name, paths, headers }: Case, file: string): Promise<string> {
  const load: Load = { url, paths, headers, connections }
  const recorded = await recordAnswers(load, file)
  const bare = await startServer('bench/bare-answers.ts', barePort, { ANSWERS: file })
  try {
    const bareLoad = { ...load, url: `http://127.0.0.1:${barePort}` }
    const { ours, limit, ratio } = await inTurns(
      () => requestRate(load),
      () => requestRate(bareLoad),
    )
    return `| ${name} | ${sizes([...recorded.values()])} | ${ours} | ${limit} | ${ratio} |`
  } finally {
    await stopServer(bare)
  }
}

function sizes(answers: readonly Recorded[]): string {
  const headBytes = ({ headers }: Recorded): number =>
    Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + ': \r\n'.length, 0)
  return `${median(answers.map(headBytes))} + ${median(answers.map(({ body }) => body.length))}`
}

/** A hundred tiles of a dataset, and an archive of the whole world at one zoom. */
async function seed(key: string, databaseUrl: string, directory: string): Promise<Case[]> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const reply = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as Record<string, string>
  }
  const { applicationId = '' } = await post('styles', { name: 'bench', style: { version: 8, sources: {}, layers: [] } })
  const schema = `app_${applicationId.replaceAll('-', '')}`
  psql(databaseUrl, pointsOf(schema))
  const { id: dataset } = await post('datasets', { type: 'table', name: 'points', source: 'points' })
  const { id: points } = await post('tilesources', { type: 'dataset', source: dataset, minZoom: 0, maxZoom: 16 })
  await mkdir(join(directory, 'files', applicationId), { recursive: true })
  await writeFile(join(directory, 'files', applicationId, 'world.pmtiles'), archive())
  const { id: world } = await post('tilesources', { type: 'tilelive', source: 'pmtiles://world.pmtiles' })
  const headers = { 'x-api-key': key, 'accept-encoding': 'gzip' }
  const tiles = places(10).map(([x, y]) => `/tiles/${points}/10/${x + 535}/${y + 353}.mvt`)
  const [first = ''] = tiles
  const etag = (await fetch(`${url}${first}`, { headers })).headers.get('etag') ?? ''
  const archived = places(100).map(([x, y]) => `/tiles/${world}/${archiveZoom}/${x}/${y}.pbf`)
  return [
    { name: 'a tile of a dataset from the cache (0.7 is wanted)', paths: tiles, headers },
    { name: 'one of them, unchanged: 304', paths: [first], headers: { ...headers, 'if-none-match': etag } },
    { name: 'a tile of an archive, the same 100', paths: archived.slice(0, 100), headers },
    { name: 'a tile of an archive, 10,000, nothing cached', paths: archived, headers, cacheMb: '0' },
  ]
}

const places = (side: number): [x: number, y: number][] =>
  Array.from({ length: side * side }, (_, index) => [index % side, Math.floor(index / side)])

const pointsOf = (schema: string): string =>
  `CREATE TABLE ${schema}.points AS
     SELECT g::int8 AS id, 'place ' || g AS name, ST_Point(8 + 4 * (g * 0.618 % 1), 45 + 4 * (g * 0.414 % 1), 4326)::geometry(Point, 4326) AS geom
     FROM generate_series(1, 30000) g;
   ALTER TABLE ${schema}.points ADD PRIMARY KEY (id);
   CREATE INDEX ON ${schema}.points USING gist (geom);
   GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
   ANALYZE ${schema}.points`

/** Noise, since nobody looks into the tiles of an archive. */
const archive = (): Buffer =>
  pmtilesOf(
    places(100).map(([x, y]) => ({ z: archiveZoom, x, y, bytes: randomBytes(archiveTileBytes) })),
    { leafSize: 1_000, bounds: [-180, -85, 180, 85] },
  )

const report = (lines: readonly string[]): string =>
  [
    '## Answers from memory',
    '',
    `With a key, over ${connections} connections; against node:http, which sends the same bytes with the same headers and does nothing else.`,
    '',
    '| | bytes of headers + body | Graticule, a second | node:http | ratio |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n')
