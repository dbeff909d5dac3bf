import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { startPostgres } from '../scripts/postgres.ts'
import { requestRate } from './load.ts'
import { eventLoopLag, inTurns, startServer, stopServer, watchLag } from './server.ts'
import { makeTables, psql, tileStatement, tilesOf, type Window, windowsAt } from './tile-data.ts'

const port = 18_184
const base = `http://127.0.0.1:${port}`
const detailed = [8, 9, 10, 11, 12, 13, 14]
const layers = [
  { table: 'points', columns: 'id, name, pop, kind' },
  { table: 'areas', columns: 'id, name, value' },
] as const

type Setting = { key: string; schema: string; url: string; directory: string; ids: Record<string, string> }

/** Tiles made anew, against the limit of this machine. */
export async function tiles(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: directory,
    MASTER_API_KEY: key,
    LOG_LEVEL: 'warn',
    TILE_CACHE_MB: '0',
  }
  const server = await startServer('packages/server/bin/graticule.js', port, env, watchLag)
  try {
    const setting = await prepare(key, postgres.url, directory)
    const note = (line: string): void => {
      console.error(line)
      lines.push(line)
    }
    const lines = [
      '## Tiles',
      '',
      'A million points around 400 towns and 200,000 areas; windows of 12 by 6 tiles at zooms 8 to 14. Before anything is timed, 60 tiles of each are decoded and compared with those of ST_AsMVT. What is compared runs in turns, seven times after one that warms up; medians.',
      '',
      '| | Graticule | limit | ratio |',
      '|---|---|---|---|',
    ]
    for (const layer of layers) await compare(setting, layer)
    for (const layer of layers) note(await misses(setting, layer))
    for (const layer of layers) note(await everyZoom(setting, layer))
    const lag = await eventLoopLag(server)
    lines.push(
      `| event-loop lag meanwhile, p99 (at most 50 ms is wanted); most | ${lag.p99.toFixed(0)} ms; ${lag.most.toFixed(0)} ms | | |`,
    )
    return [...lines, ''].join('\n')
  } finally {
    await stopServer(server)
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

async function prepare(key: string, url: string, directory: string): Promise<Setting> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const [application] = (await (await fetch(`${base}/api/v1/applications`, { headers })).json()) as { id: string }[]
  const schema = `app_${application?.id.replaceAll('-', '')}`
  makeTables(url, schema)
  const ids: Record<string, string> = {}
  for (const { table } of layers) {
    const dataset = JSON.stringify({ type: 'table', name: table, source: table })
    const made = (await (
      await fetch(`${base}/api/v1/datasets`, { method: 'POST', headers, body: dataset })
    ).json()) as { id: string }
    const body = JSON.stringify({ type: 'dataset', source: made.id, minZoom: 0, maxZoom: 16 })
    const source = (await (await fetch(`${base}/api/v1/tilesources`, { method: 'POST', headers, body })).json()) as {
      id: string
    }
    ids[table] = source.id
  }
  const setting = { key, schema, url, directory, ids }
  await overviews(setting)
  return setting
}

/** The first tile asks for the overviews; they are built by a job. */
async function overviews({ key, ids, url }: Setting): Promise<void> {
  for (const id of Object.values(ids)) await tile(key, id, '0/0/0')
  for (let waited = 0; waited < 300; waited++) {
    if (psql(url, `SELECT count(*) FROM svc.overviews WHERE state = 'built'`).trim() === '2') break
    await setTimeout(1000)
  }
  await setTimeout(2000)
}

async function tile(key: string, id: string, place: string): Promise<Buffer> {
  const reply = await fetch(`${base}/tiles/${id}/${place}.mvt`, {
    headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
  })
  if (!reply.ok) throw new Error(`${place}: ${reply.status} ${await reply.text()}`)
  return Buffer.from(await reply.arrayBuffer())
}

type Layer = (typeof layers)[number]

async function compare({ key, ids, schema, url }: Setting, { table, columns }: Layer): Promise<void> {
  const places = detailed.flatMap((z) => windowsAt(9, 47, [z]).flatMap(tilesOf)).filter((_, index) => index % 9 === 0)
  for (const place of places) {
    const [z = '', x = '', y = ''] = place.split('/')
    const hex = psql(
      url,
      `SELECT encode(t, 'hex') FROM (${tileStatement(`${schema}.${table}`, columns, z, x, y)}) AS s(t)`,
    )
    const [ours, theirs] = [await tile(key, ids[table] ?? '', place), Buffer.from(hex.trim(), 'hex')].map(idsIn)
    const missing = [...(theirs ?? [])].filter((id) => !ours?.has(id))
    // PostGIS keeps some specks that we drop, and the other way round.
    if (missing.length > 2 + (theirs?.size ?? 0) / 50)
      throw new Error(`${table} ${place}: ${missing.length} features are missing`)
  }
}

function idsIn(bytes: Buffer): Set<number> {
  const { geometry } = new VectorTile(new PbfReader(bytes)).layers
  return new Set(Array.from({ length: geometry?.length ?? 0 }, (_, index) => geometry?.feature(index).id ?? -1))
}

/** As many a second as can be made, against the same from PostGIS alone. */
async function misses(setting: Setting, layer: Layer): Promise<string> {
  const windows = windowsAt(9, 47, detailed)
  const { ours, limit, ratio } = await inTurns(
    () => madeRate(setting, layer, windows.flatMap(tilesOf)),
    () => pgbenchRate(setting, layer, windows),
  )
  return `| ${layer.table}: tiles made a second at zooms 8 to 14, against pgbench of ST_AsMVT (1.5 is wanted) | ${ours} | ${limit} | ${ratio} |`
}

async function pgbenchRate({ schema, url, directory }: Setting, { table, columns }: Layer, windows: readonly Window[]) {
  const scripts: string[] = []
  for (const { z, x, y, width, height } of windows) {
    const file = join(directory, `${table}-${z}.sql`)
    const random = `\\set x random(${x}, ${x + width - 1})\n\\set y random(${y}, ${y + height - 1})\n`
    await writeFile(
      file,
      `${random}${tileStatement(`${schema}.${table}`, columns, String(z), ':x', ':y').replaceAll('\n', ' ')};\n`,
    )
    scripts.push('-f', file)
  }
  const output = execFileSync('pgbench', ['-n', '-M', 'prepared', '-c', '8', '-T', '4', ...scripts, url], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

function madeRate({ key, ids }: Setting, { table }: Layer, places: readonly string[]): Promise<number> {
  const shuffled = places
    .map((place, index) => ({ place, order: (index * 7919) % places.length }))
    .sort((a, b) => a.order - b.order)
  const paths = shuffled.map(({ place }) => `/tiles/${ids[table]}/${place}.mvt`)
  return requestRate({ url: base, paths, headers: { 'x-api-key': key }, connections: 8 })
}

/** One user, from the whole world down: the slowest of 20, against the plain statement. */
async function everyZoom({ key, ids, schema, url }: Setting, { table, columns }: Layer): Promise<string> {
  const places = windowsAt(9, 47, [0, 1, 2, 3, 4, 5, 6, 7, ...detailed]).flatMap((window) =>
    tilesOf({ ...window, width: Math.min(window.width, 4), height: Math.min(window.height, 3) }),
  )
  const times: number[] = []
  for (const place of places) {
    const start = performance.now()
    await tile(key, ids[table] ?? '', place)
    times.push(performance.now() - start)
  }
  const start = performance.now()
  psql(url, `SELECT length(t) FROM (${tileStatement(`${schema}.${table}`, columns, '0', '0', '0')}) AS s(t)`)
  const plain = performance.now() - start
  const p95 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN
  return `| ${table}: p95 of a tile at any zoom from 0 (250 ms is wanted), against the plain statement at zoom 0 | ${p95.toFixed(0)} ms; most ${times.at(-1)?.toFixed(0)} ms | ${plain.toFixed(0)} ms | |`
}
