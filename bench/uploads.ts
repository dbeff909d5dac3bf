import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../scripts/postgres.ts'
import { median, spread, startServer, stopServer } from './server.ts'
import { makeUploadFiles, type UploadFile } from './upload-files.ts'

const port = 18_186
const base = `http://127.0.0.1:${port}`
const rounds = 7
/** After so long no further round of a file is begun. */
const enoughMs = 40_000
/** For a quick try: 0.01 makes files of a hundredth. */
const share = Number(process.env.BENCH_UPLOADS_SHARE ?? 1)

type Setting = { url: string; headers: Record<string, string>; serverPid: number }

/** Files from the last byte received to a dataset that is published, against ogr2ogr with COPY and an index. */
export async function uploads(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: key, LOG_LEVEL: 'warn' }
  // Tiles are all made, none is from the cache.
  const settings = { ...env, TILE_CACHE_MB: '0' }
  const server = await startServer('packages/server/bin/graticule.js', port, settings)
  try {
    const setting = { url: postgres.url, headers: { 'x-api-key': key }, serverPid: server.pid ?? 0 }
    const files = await makeUploadFiles(directory, { points: 1_000_000 * share, areas: 100_000 * share })
    const lines = [
      '## Uploads',
      '',
      `${1_000_000 * share} points with 8 properties and ${100_000 * share} areas of 41 to 61 corners, from the last byte received to \`completed\`, against \`ogr2ogr -f PostgreSQL\` with COPY and a spatial index; the median of up to ${rounds} ratios, each of two neighbours in time. Overviews follow \`completed\`; ogr2ogr makes none.`,
      '',
      '| | Graticule | ogr2ogr | ratio | most memory of the reading process (150 MB is wanted) | overviews, after `completed` |',
      '|---|---|---|---|---|---|',
    ]
    const note = (line: string): void => {
      console.error(line)
      lines.push(line)
    }
    for (const file of files) note(await compare(setting, file))
    note(await tilesMeanwhile(setting, files))
    return [...lines, ''].join('\n')
  } finally {
    await stopServer(server)
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function compare(setting: Setting, { path, name, wanted }: UploadFile): Promise<string> {
  const ours: number[] = []
  const theirs: number[] = []
  const overviews: number[] = []
  let mostMb = 0
  const end = performance.now() + enoughMs
  while (ours.length < rounds && (ours.length === 0 || performance.now() < end)) {
    theirs.push(await byOgr(setting, path))
    const { seconds, memoryMb, datasetId, overviewSeconds } = await upload(setting, path)
    ours.push(seconds)
    overviews.push(overviewSeconds)
    mostMb = Math.max(mostMb, memoryMb)
    await remove(setting, datasetId)
  }
  const mb = ((await openAsBlob(path)).size / 1e6).toFixed(0)
  const ratios = theirs.map((their, round) => their / (ours[round] ?? Number.NaN))
  return `| ${name}, ${mb} MB, seconds (${wanted} times faster is wanted) | ${median(ours).toFixed(1)} | ${median(theirs).toFixed(1)} | ${spread(ratios, 1)} | ${mostMb} MB | ${median(overviews).toFixed(1)} |`
}

type Uploaded = { seconds: number; memoryMb: number; datasetId: string; overviewSeconds: number }
type UploadRecord = { status: string; datasetId: string; overviews: { status: string } | null }

async function upload(setting: Setting, path: string): Promise<Uploaded> {
  const body = new FormData()
  body.append('file', await openAsBlob(path), path.split('/').at(-1) ?? '')
  const reply = await fetch(`${base}/api/v1/uploads`, { method: 'POST', headers: setting.headers, body })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  return completed(setting, ((await reply.json()) as { id: string }).id)
}

/** The file is sent by another process: this one has tiles to time. */
async function uploadApart(setting: Setting, path: string): Promise<Uploaded> {
  const key = `x-api-key: ${setting.headers['x-api-key']}`
  const child = spawn('curl', ['-sf', '-H', key, '-F', `file=@${path}`, `${base}/api/v1/uploads`])
  const [reply, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`curl ended with ${code}`)
  return completed(setting, (JSON.parse(reply) as { id: string }).id)
}

async function completed({ headers, serverPid }: Setting, id: string): Promise<Uploaded> {
  const begun = performance.now()
  let memoryMb = 0
  for (;;) {
    memoryMb = Math.max(memoryMb, await readerMb(serverPid))
    const record = (await (await fetch(`${base}/api/v1/uploads/${id}`, { headers })).json()) as UploadRecord
    if (record.status === 'completed') {
      const seconds = (performance.now() - begun) / 1000
      return { seconds, memoryMb, datasetId: record.datasetId, overviewSeconds: await overviewsBuilt(headers, id) }
    }
    if (record.status !== 'pending' && record.status !== 'processing') throw new Error(JSON.stringify(record))
    await sleep(50)
  }
}

/** Seconds until the overviews are built. */
async function overviewsBuilt(headers: Record<string, string>, id: string): Promise<number> {
  for (const begun = performance.now(); ; await sleep(50)) {
    const reply = await fetch(`${base}/api/v1/uploads/${id}`, { headers })
    const { overviews } = (await reply.json()) as UploadRecord
    if (overviews?.status === 'failed') throw new Error('The overviews failed')
    if (!overviews || overviews.status === 'built') return (performance.now() - begun) / 1000
  }
}

async function remove({ headers }: Setting, datasetId: string): Promise<void> {
  await fetch(`${base}/api/v1/datasets/${datasetId}`, { method: 'DELETE', headers })
}

/** The most memory that a process which the server has started has had. */
async function readerMb(serverPid: number): Promise<number> {
  const children = await readFile(`/proc/${serverPid}/task/${serverPid}/children`, 'utf8').catch(() => '')
  const sizes = children
    .split(' ')
    .filter(Boolean)
    .map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    })
  return Math.max(0, ...(await Promise.all(sizes)))
}

/** Not waited for in one go: the tiles of others are asked for meanwhile. */
async function byOgr({ url }: Setting, path: string): Promise<number> {
  const { hostname, port: at, username, pathname } = new URL(url)
  const target = `PG:host=${hostname} port=${at} user=${username} dbname=${pathname.slice(1)}`
  const source = path.endsWith('.zip') ? `/vsizip/${path}` : path
  // Told what we find out ourselves.
  const columns = ['X_POSSIBLE_NAMES=X', 'Y_POSSIBLE_NAMES=Y', 'AUTODETECT_TYPE=YES'].flatMap((one) => ['-oo', one])
  const csv = path.endsWith('.csv') ? [...columns, '-a_srs', 'EPSG:4326'] : []
  const table = ['-nln', 'by_ogr', '-overwrite', '-lco', 'SPATIAL_INDEX=GIST', '--config', 'PG_USE_COPY', 'YES']
  const begun = performance.now()
  const child = spawn('ogr2ogr', ['-f', 'PostgreSQL', target, source, ...csv, ...table], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`ogr2ogr ended with ${code}`)
  return (performance.now() - begun) / 1000
}

/** What 99 of 100 tiles take while nothing else is done, and while the largest file is loaded. */
async function tilesMeanwhile(setting: Setting, files: readonly UploadFile[]): Promise<string> {
  const pathOf = (name: string) => files.find((file) => file.name === name)?.path ?? ''
  const { datasetId } = await upload(setting, pathOf('areas.gpkg'))
  await tileTimes(setting, datasetId, sleep(3_000))
  const idle = p99(await tileTimes(setting, datasetId, sleep(10_000)))
  const loading = uploadApart(setting, pathOf('points.geojson'))
  const busy = p99(await tileTimes(setting, datasetId, loading))
  await remove(setting, (await loading).datasetId)
  return `| p99 of a tile while the points are uploaded and loaded, against nothing else being done (2 times at most is wanted) | ${busy.toFixed(0)} ms | ${idle.toFixed(0)} ms | **${(busy / idle).toFixed(1)}** | | |`
}

/** Twenty a second, one after the other, until something is over. */
async function tileTimes({ headers }: Setting, id: string, until: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const isOver = { value: false }
  const end = (): void => {
    isOver.value = true
  }
  until.then(end, end)
  for (let n = 0; !isOver.value; n++) {
    const z = 6 + (n % 5)
    const [x, y] = [(n * 7919) % 2 ** z, Math.floor(2 ** z * 0.3) + ((n * 104_729) % Math.floor(2 ** z * 0.4))]
    const begun = performance.now()
    const reply = await fetch(`${base}/tiles/${id}/${z}/${x}/${y}.mvt`, { headers })
    await reply.arrayBuffer()
    if (!reply.ok) throw new Error(`A tile was answered with ${reply.status}`)
    times.push(performance.now() - begun)
    await sleep(50)
  }
  return times
}

function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}
