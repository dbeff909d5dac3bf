import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import { startPostgres } from '../scripts/postgres.ts'
import { eventLoopLag, inTurns, median, residentMb, startServer, stopServer, watchLag } from './server.ts'

const rowCount = 1_000_000
const areaCount = 100_000
const port = 18_182
const barePort = 18_183
const peerPort = 18_184
const base = `http://127.0.0.1:${port}/api/v1`
const slowReaders = 10
const slowSeconds = 30

type Setting = {
  key: string
  schema: string
  dataset: string
  areas: string
  postgresUrl: string
  directory: string
}

/** A million points: one row by its key against pgbench, all of them against COPY, and slow readers. */
export async function queryDatasets(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: directory,
    MASTER_API_KEY: key,
    LOG_LEVEL: 'warn',
    STREAMS_PER_APPLICATION: '64',
  }
  const server = await startServer('packages/server/bin/graticule.js', port, env, [
    '--max-old-space-size=192',
    ...watchLag,
  ])
  try {
    const setting = await prepare(key, postgres.url, directory)
    // First, while the process has nothing left over from the others.
    const slow = await slowly(setting, server)
    const lines = [
      '## Queries on a dataset',
      '',
      `A table of ${rowCount.toLocaleString('en')} points with a key, a name and a number.`,
      '',
      '| | Graticule | limit | ratio |',
      '|---|---|---|---|',
      await oneRow(setting),
      ...(await smallAnswers(setting)),
      await everyRow(setting, 'geojson', featureSql(setting)),
      await everyRow(setting, 'csv', `SELECT id, name, pop, ST_AsText(geom, 9) FROM ${setting.schema}.points`),
      slow,
      '',
    ]
    return lines.join('\n')
  } finally {
    await stopServer(server)
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

async function prepare(key: string, postgresUrl: string, directory: string): Promise<Setting> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const [application] = (await (await fetch(`${base}/applications`, { headers })).json()) as { id: string }[]
  const schema = `app_${application?.id.replaceAll('-', '')}`
  psql(
    postgresUrl,
    `CREATE TABLE ${schema}.points AS SELECT g::int8 AS id, 'place ' || g AS name, (random() * 1000)::int AS pop,
       ST_Point(random() * 360 - 180, random() * 170 - 85, 4326)::geometry(Point, 4326) AS geom
     FROM generate_series(1, ${rowCount}) g;
     CREATE TABLE ${schema}.areas AS SELECT g::int8 AS id, 'area ' || g AS name, (random() * 1000)::int AS pop,
       ST_Multi(ST_Buffer(ST_Point(random() * 350 - 175, random() * 160 - 80, 4326), 0.1 + random() * 0.4))
         ::geometry(MultiPolygon, 4326) AS geom
     FROM generate_series(1, ${areaCount}) g;
     ${['points', 'areas'].map((table) => finishSql(`${schema}.${table}`)).join('')}`,
  )
  const create = async (table: string): Promise<string> => {
    const body = JSON.stringify({ type: 'table', name: table, source: table })
    const made = await fetch(`${base}/datasets`, { method: 'POST', headers, body })
    return ((await made.json()) as { id: string }).id
  }
  return { key, schema, dataset: await create('points'), areas: await create('areas'), postgresUrl, directory }
}

const finishSql = (table: string): string =>
  `ALTER TABLE ${table} ADD PRIMARY KEY (id); CREATE INDEX ON ${table} USING gist (geom); ANALYZE ${table};`

const psql = (url: string, text: string): string =>
  execFileSync('psql', [url, '-qAt', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8', maxBuffer: 1 << 20 })

async function oneRow({ key, dataset, schema, postgresUrl, directory }: Setting): Promise<string> {
  const script = join(directory, 'one-row.sql')
  await writeFile(
    script,
    `\\set id random(1, ${rowCount})\nSELECT id, name, pop, ST_AsGeoJSON(geom, 9) FROM ${schema}.points WHERE id = :id;\n`,
  )
  const bare = await startServer('bench/bare-server.ts', barePort, {
    DATABASE_URL: postgresUrl,
    POINTS: `${schema}.points`,
  })
  const rates: number[] = []
  const bareRates: number[] = []
  const limits: number[] = []
  try {
    for (let round = 0; round < 3; round++) {
      limits.push(pgbenchRate(script, postgresUrl))
      rates.push(await requestRate(`${base}/datasets/${dataset}/query?filter[id]=4711`, { 'x-api-key': key }))
      bareRates.push(await requestRate(`http://127.0.0.1:${barePort}/points/4711`, {}))
    }
  } finally {
    await stopServer(bare)
  }
  return [
    row('one row by its key, requests a second, against pgbench', median(rates), median(limits), 'more'),
    row('the same, against bare Fastify with the same SELECT', median(rates), median(bareRates), 'more'),
  ].join('\n')
}

function pgbenchRate(script: string, url: string): number {
  const output = execFileSync('pgbench', ['-n', '-M', 'prepared', '-c', '8', '-T', '4', '-f', script, url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

async function requestRate(url: string, headers: Record<string, string>): Promise<number> {
  const { requests, non2xx } = await autocannon({ url, headers, connections: 8, duration: 4 })
  if (non2xx > 0) throw new Error(`${non2xx} answers were not 2xx`)
  return requests.average
}

/** One feature, and 100 of a box of 1 600 points or 180 areas, and of one of 16 %. pg_featureserv promises no order. */
async function smallAnswers({ key, schema, dataset, areas, postgresUrl }: Setting): Promise<string[]> {
  if (!isOnPath('wrk') || !isOnPath('pg_featureserv')) return []
  const peer = await startPeer(postgresUrl)
  const box = (bounds: string) => `query?limit=100&format=geojson&filter[geom][$bbox]=${bounds}`
  const peerBox = (table: string, bounds: string) => `${schema}.${table}/items.json?limit=100&bbox=${bounds}`
  const cases = [
    ['one feature by its key', `${dataset}/query?format=geojson&filter[id]=4711`, `${schema}.points/items/4711.json`],
    ['100 points in a small box', `${dataset}/${box(smallBox)}`, peerBox('points', smallBox)],
    ['100 areas in a small box', `${areas}/${box(smallBox)}`, peerBox('areas', smallBox)],
    ['100 points in a large box', `${dataset}/${box(largeBox)}`, peerBox('points', largeBox)],
    ['100 areas in a large box', `${areas}/${box(largeBox)}`, peerBox('areas', largeBox)],
  ] as const
  const lines: string[] = []
  try {
    for (const [what, ours, theirs] of cases) {
      const rate = async () => wrkRate(`${base}/datasets/${ours}`, key)
      const peerRate = async () => wrkRate(`http://127.0.0.1:${peerPort}/collections/${theirs}`)
      const { ours: shown, limit, ratio } = await inTurns(rate, peerRate)
      lines.push(`| ${what}, requests a second, against pg_featureserv | ${shown} | ${limit} | ${ratio} |`)
    }
  } finally {
    peer.kill()
  }
  return lines
}

const smallBox = '0,40,10,50'
const largeBox = '-60,-40,60,40'

const isOnPath = (command: string): boolean => spawnSync('which', [command]).status === 0

async function startPeer(url: string): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, DATABASE_URL: url, PGFS_SERVER_HTTPPORT: String(peerPort) }
  const child = spawn('pg_featureserv', [], { env, stdio: 'ignore' })
  while (!(await fetch(`http://127.0.0.1:${peerPort}/collections.json`).catch(() => undefined))?.ok)
    await setTimeout(100)
  return child
}

function wrkRate(url: string, key = ''): number {
  const output = execFileSync('wrk', ['-t1', '-c4', '-d4s', '-H', `x-api-key: ${key}`, url], { encoding: 'utf8' })
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(output)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
}

const featureSql = ({ schema }: Setting): string =>
  `SELECT '{"type":"Feature","id":' || id || ',"geometry":' || ST_AsGeoJSON(geom, 9) || ',"properties":{"id":' || id ||
   ',"name":' || to_json(name)::text || ',"pop":' || pop || '}}' FROM ${schema}.points`

/** The same text, made by PostgreSQL itself and written to a file. */
async function everyRow(
  { key, dataset, postgresUrl, directory }: Setting,
  format: string,
  sql: string,
): Promise<string> {
  const ours = join(directory, 'ours')
  const theirs = join(directory, 'theirs')
  const times: number[] = []
  const limits: number[] = []
  for (let round = 0; round < 3; round++) {
    times.push(
      timed('curl', [
        '-sf',
        '-H',
        `x-api-key: ${key}`,
        '-o',
        ours,
        `${base}/datasets/${dataset}/query?format=${format}`,
      ]),
    )
    const copy = format === 'csv' ? 'CSV' : `CSV QUOTE E'\\x01' DELIMITER E'\\x02'`
    limits.push(timed('psql', [postgresUrl, '-qc', `\\copy (${sql.replaceAll('\n', ' ')}) TO '${theirs}' ${copy}`]))
  }
  const sizes = await Promise.all([ours, theirs].map(async (file) => (await stat(file)).size))
  const difference = Math.abs(1 - (sizes[0] ?? 0) / (sizes[1] ?? 1))
  if (difference > 0.05) throw new Error(`The two answers differ in size: ${sizes.join(', ')}`)
  return row(`all rows as ${format}, seconds, against COPY of the same text`, median(times), median(limits), 'less')
}

function timed(command: string, parameters: string[]): number {
  const start = performance.now()
  execFileSync(command, parameters, { stdio: 'ignore' })
  return (performance.now() - start) / 1000
}

/** Readers that take 20 KB a second each, and what they cost everybody else. */
async function slowly({ key, dataset }: Setting, server: Parameters<typeof residentMb>[0]): Promise<string> {
  const readers = await Promise.all(
    Array.from({ length: slowReaders }, () => openSlowly(`${base}/datasets/${dataset}/query?format=geojson`, key)),
  )
  await eventLoopLag(server)
  const latencies: number[] = []
  let mostMb = 0
  for (const end = performance.now() + slowSeconds * 1000; performance.now() < end; await setTimeout(50)) {
    const start = performance.now()
    await fetch(`${base}/config`, { headers: { 'x-api-key': key } }).then((reply) => reply.arrayBuffer())
    latencies.push(performance.now() - start)
    mostMb = Math.max(mostMb, await residentMb(server))
  }
  const lag = await eventLoopLag(server)
  for (const reader of readers) reader.destroy()
  const slowest = latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN
  const during = `${slowReaders} slow readers of all rows for ${slowSeconds} s`
  return [
    `| ${during}: most memory; p99 of another request | ${mostMb} MB; ${slowest.toFixed(0)} ms | | |`,
    `| the same: event-loop lag of the server, p99 (at most 100 ms is wanted); most | ${lag.p99.toFixed(0)} ms; ${lag.most.toFixed(0)} ms | | |`,
  ].join('\n')
}

function openSlowly(url: string, key: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(url, { headers: { 'x-api-key': key }, agent: false }, (response) => {
      const pull = setInterval(() => response.read(2_000), 100)
      response.on('close', () => clearInterval(pull))
      response.on('error', () => undefined)
      response.pause()
      resolve(response)
    }).on('error', reject)
  })
}

function row(what: string, ours: number, limit: number, better: 'more' | 'less'): string {
  const ratio = better === 'more' ? ours / limit : limit / ours
  const shown = (value: number) => (value < 100 ? value.toFixed(2) : Math.round(value).toString())
  return `| ${what} | ${shown(ours)} | ${shown(limit)} | **${ratio.toFixed(2)}** |`
}
