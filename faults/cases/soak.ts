import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { type Answer, call, pointsCsv, uploadForm } from '../http.ts'
import { described, p, startLoad } from '../load.ts'
import { type FaultServer, masterKey } from '../server.ts'
import { type FaultTenant, make, makeLayer, makeTenant, pointsSql } from '../tenants.ts'
import { theilSen } from '../theil-sen.ts'

const sampleMs = 10_000
/** Of the first part nothing is held against the server: code is compiled and caches fill. */
const warmUp = 0.34
const mebibyte = 1024 * 1024
const bounds = { files: 20, connections: 76, lagP99: 0.1 }

type Sample = {
  readonly hours: number
  readonly rss: number
  readonly files: number
  readonly connections: number
  readonly lag: number
}

/** 70 % tiles, 15 % queries, 5 % uploads, 5 % logins, 5 % hostile requests. */
async function requestsOf(server: FaultServer, random: Random): Promise<() => Promise<Answer>> {
  const tenant = await makeTenant(server, 'soak')
  const { dataset, tiles } = await makeLayer(server, tenant, pointsSql(20_000))
  const user = { email: 'soak@example.org', password: 'nine Bernoulli numbers', applicationId: tenant.id }
  await make(server, 'auth/users', { ...user, emailVerified: true })
  const { key } = tenant
  const get = (path: string) => call(server.url, 'GET', path, { key })
  const tile = () => {
    const z = Math.floor(random() * 12)
    return get(`/tiles/${tiles}/${z}/${Math.floor(random() * 2 ** z)}/${Math.floor(random() * 2 ** z)}.mvt`)
  }
  const query = () => get(`/api/v1/datasets/${dataset}/query?limit=${1 + Math.floor(random() * 500)}&format=geojson`)
  const login = () => call(server.url, 'POST', '/api/v1/auth/login', { body: user })
  const hostile = () => get(hostilePaths[Math.floor(random() * hostilePaths.length)] ?? '/')
  return () => {
    const share = random()
    if (share < 0.7) return tile()
    if (share < 0.85) return query()
    if (share < 0.9) return uploadAndDelete(server, tenant)
    return share < 0.95 ? login() : hostile()
  }
}

const hostilePaths = [
  '/api/v1/datasets?filter[name][$regex]=((a+)+)+$',
  '/api/v1/datasets?filter[__proto__][a]=1',
  `/api/v1/styles?sort=${'a'.repeat(3_000)}`,
  '/tiles/00000000-0000-4000-8000-000000000000/40/1/1.mvt',
  '/api/v1/datasets/..%2f..%2fetc',
  '/api/v1/styles?limit=-1',
]

/** An upload whose dataset does not stay: the database shall not grow either. */
async function uploadAndDelete({ url }: FaultServer, { key }: FaultTenant): Promise<Answer> {
  const sent = await call(url, 'POST', '/api/v1/uploads', { key, ...uploadForm('points.csv', pointsCsv(500)) })
  if (sent.status !== 200) return sent
  for (let tries = 0; tries < 60; tries++) {
    const { body } = await call(url, 'GET', `/api/v1/uploads/${sent.body.id}`, { key, headers: { prefer: 'wait=5' } })
    if (body.status === 'pending' || body.status === 'processing') continue
    return body.datasetId
      ? call(url, 'DELETE', `/api/v1/datasets/${body.datasetId}`, { key })
      : { ...sent, status: 500 }
  }
  return { ...sent, status: 599 }
}

async function sample(server: FaultServer, adminUrl: string, begun: number): Promise<Sample> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  const figures = await call(server.url, 'GET', '/metrics', { key: masterKey })
  const connections = Number(
    psql(
      adminUrl,
      `SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    ),
  )
  return {
    hours: (performance.now() - begun) / 3_600_000,
    rss: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024,
    files: (await readdir(`/proc/${server.pid}/fd`)).length,
    connections,
    lag: Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(figures.text)?.[1] ?? 0),
  }
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const minutes = context.minutes ?? context.size(1, 4)
  const { url: DATABASE_URL, adminUrl } = await context.postgres()
  const directory = await context.directory()
  const server = await context.server({ DATABASE_URL, DATA_DIR: directory, TILE_CACHE_MB: '16' })
  const ask = await requestsOf(server, random)
  const isKept = ({ status }: Answer) => status < 500 || status === 503
  const begun = performance.now()
  const load = startLoad({ clients: 6, pauseMs: 20, ask, isKept })
  const samples: Sample[] = []
  while (performance.now() - begun < minutes * 60_000) {
    await sleep(sampleMs)
    samples.push(await sample(server, adminUrl, begun))
  }
  await load.stop()
  expect(load.broken.size === 0, () => `${described(load.broken)}\n${server.log()}`)
  const settled = samples.slice(Math.floor(samples.length * warmUp))
  const slope = theilSen(settled.map(({ hours, rss }) => [hours, rss / mebibyte]))
  const range = (values: readonly number[]) => `${Math.min(...values)} to ${Math.max(...values)}`
  const files = settled.map((one) => one.files)
  const connections = Math.max(...samples.map((one) => one.connections))
  const lag = Math.max(...settled.map((one) => one.lag))
  const left = await readdir(join(directory, 'uploads')).catch(() => [])
  expect(left.length === 0, () => `${left.length} temporary files are left`)
  expect(Math.max(...files) - Math.min(...files) <= bounds.files, () => `open files: ${range(files)}`)
  expect(connections <= bounds.connections, () => `${connections} connections to PostgreSQL`)
  expect(lag <= context.allowed(bounds.lagP99), () => `the event loop lags ${lag} s (p99)`)
  const mostGrowth = minutes >= 60 ? 8 : 240
  expect(slope <= mostGrowth, () => `memory grows by ${slope.toFixed(1)} MiB an hour`)
  return {
    minutes,
    requests: `${load.times.length}, p99 ${p(load.times, 0.99)} ms, ${described(load.statuses)}`,
    'slope of the resident memory (Theil–Sen)': `${slope.toFixed(1)} MiB/h, ${range(settled.map(({ rss }) => Math.round(rss / mebibyte)))} MiB`,
    'open files': range(files),
    'connections to PostgreSQL, at most': connections,
    'temporary files left': left.length,
    'p99 of the lag of the event loop, at most': `${Math.round(lag * 1000)} ms`,
  }
}

export const soak: Fault = {
  name: 'soak',
  promise:
    'Hours of mixed load (70 % tiles, 15 % queries, 5 % uploads, 5 % logins, 5 % hostile) leave memory, open files, connections and temporary files where they were; `--minutes 120` is the long one',
  run,
}
