import { randomUUID } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements, NotHere } from '../fault.ts'
import { call, pointsCsv, uploadForm } from '../http.ts'
import type { FaultServer } from '../server.ts'
import { make, makeLayer, makeTenant, pointsSql } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'

const hourMs = 3_600_000
const preload = new URL('../shifted-clock.ts', import.meta.url).href
const rows = 20_000
const revokedWithinMs = 1_000
/** Longer than all caches and clocks of the faults need to notice a jump. */
const noticedMs = 300

type Clock = { readonly file: string; set(ms: number): Promise<void> }

async function makeClock(directory: string, write: (ms: number) => string): Promise<Clock> {
  const file = join(directory, 'clock')
  const set = async (ms: number): Promise<void> => {
    await writeFile(file, write(ms))
    await sleep(noticedMs)
  }
  await set(0)
  await chmod(directory, 0o755)
  await chmod(file, 0o644)
  return { file, set }
}

/** Uploads are worked on while the clock jumps; each must end once, and whole. */
async function jumpDuringUploads(server: FaultServer, url: string, set: Clock['set'], jumps: readonly number[]) {
  const sent: string[] = []
  for (const jump of jumps) {
    const answer = await server.call('POST', '/api/v1/uploads', uploadForm('points.csv', pointsCsv(rows)))
    expect(answer.status === 200, () => `an upload: ${answer.status} ${answer.text}`)
    sent.push(answer.body.id)
    await set(jump)
  }
  const list = sent.map((id) => `'${id}'`).join(',')
  const isOver = "status IN ('completed', 'failed')"
  const left = () =>
    psql(url, `SELECT status, attempts FROM svc.uploads WHERE id IN (${list}) AND NOT (${isOver})`).trim()
  await untilSo(
    () => left() === '',
    120_000,
    () => `uploads are ${left()}`,
    200,
  )
  await set(0)
  const completed = Number(psql(url, `SELECT count(*) FROM svc.uploads WHERE status = 'completed'`))
  const made = Number(psql(url, 'SELECT count(*) FROM svc.datasets WHERE name = $$points$$'))
  expect(made === completed, () => `${completed} uploads have made ${made} datasets`)
  return { sent: sent.length, completed }
}

/** A key that was used before, during and after the jump is refused in time. */
async function revokeAfter(
  server: FaultServer,
  url: string,
  applicationId: string,
  jump: () => Promise<void>,
): Promise<number> {
  const { id: key } = await make(server, 'apikeys', { type: 'app', applicationId, permissions: { '*': { '*': '*' } } })
  const status = async () => (await server.call('GET', '/api/v1/styles', { key })).status
  expect((await status()) === 200, () => 'a new key was refused')
  await jump()
  expect((await status()) === 200, () => 'a key was refused after the clock jumped')
  // Past the replica's own knowledge of what it has changed: by SQL, as another replica would.
  psql(
    url,
    `DELETE FROM svc.apikeys WHERE application_id = '${applicationId}' AND created_at = (SELECT max(created_at) FROM svc.apikeys)`,
  )
  return untilSo(
    async () => (await status()) === 401,
    10_000,
    () => 'a revoked key is good after the clock jumped',
    10,
  )
}

async function runServerClock(context: FaultContext): Promise<Measurements> {
  const { url } = await context.postgres()
  const clock = await makeClock(await context.directory(), String)
  const shared = { DATABASE_URL: url, DATA_DIR: await context.directory(), TRUST_PROXY: 'true' }
  const shifted = { ...shared, NODE_OPTIONS: `--import=${preload}`, CLOCK_SHIFT_FILE: clock.file }
  const server = await context.server(shifted)
  const other = await context.server(shared)
  const tenant = await makeTenant(server, 'clock')
  const layer = await makeLayer(server, tenant, pointsSql(500))
  const user = { email: 'a@example.org', password: 'nine Bernoulli numbers', applicationId: tenant.id }
  await make(server, 'auth/users', { ...user, emailVerified: true })
  const revoked: number[] = []
  for (const jump of [hourMs, 0, -hourMs, 0]) {
    revoked.push(await revokeAfter(server, url, tenant.id, () => clock.set(jump)))
    await checkRequests(server, { key: tenant.key, ...layer })
    await checkSession(server, user, tenant.key)
  }
  await clock.set(hourMs)
  const guesses = await guessOnBoth([server, other], tenant.id)
  const uploads = await jumpDuringUploads(server, url, clock.set, [hourMs, -hourMs, 0, hourMs, 0])
  expect(uploads.completed === uploads.sent, () => `${uploads.completed} of ${uploads.sent} uploads were completed`)
  const longest = Math.max(...revoked)
  expect(longest <= context.allowed(revokedWithinMs), () => `a revoked key was good for ${seconds(longest)}`)
  return {
    jumps: '± 1 h, with another replica on true time',
    'revoked keys refused after at most': seconds(longest),
    'guesses that were looked at': guesses,
    'uploads completed once': uploads.completed,
  }
}

async function checkRequests(
  server: FaultServer,
  { key, dataset, tiles }: { key: string; dataset: string; tiles: string },
) {
  for (const path of [
    `/api/v1/datasets/${dataset}/query?limit=5`,
    `/tiles/${tiles}/1/0/0.mvt`,
    '/api/v1/healthcheck',
  ]) {
    const { status, text } = await server.call('GET', path, { key })
    expect(status === 200, () => `${path} after a jump: ${status} ${text.slice(0, 300)}`)
  }
}

/** Who logs in after a jump can work, and renew the session. */
async function checkSession(server: FaultServer, user: { applicationId: string }, key: string): Promise<void> {
  const { status, body } = await call(server.url, 'POST', '/api/v1/auth/login', { body: user })
  expect(status === 200, () => `a login after a jump: ${status}`)
  const headers = { authorization: `Bearer ${body.accessToken}` }
  const used = await call(server.url, 'GET', '/api/v1/auth/access', { key, headers })
  expect(used.status === 200, () => `a token after a jump: ${used.status} ${used.text}`)
  const { refreshToken } = body
  const renewed = await call(server.url, 'POST', '/api/v1/auth/refresh', {
    key,
    body: { refreshToken, applicationId: user.applicationId },
  })
  expect(renewed.status === 200, () => `a refresh after a jump: ${renewed.status} ${renewed.text}`)
}

const allowedGuesses = 10

/** The limit is counted by the clock of the database. */
async function guessOnBoth(servers: readonly FaultServer[], applicationId: string): Promise<number> {
  const body = { email: `${randomUUID()}@example.org`, password: 'wrong', applicationId }
  let lookedAt = 0
  for (let n = 0; n < 30; n++) {
    const { url } = servers[n % servers.length] ?? { url: '' }
    const headers = { 'x-forwarded-for': '198.51.100.9' }
    if ((await call(url, 'POST', '/api/v1/auth/login', { body, headers })).status === 401) lookedAt++
  }
  expect(lookedAt === allowedGuesses, () => `${lookedAt} guesses were looked at`)
  return lookedAt
}

/** The clock of PostgreSQL, by libfaketime. */
async function runDatabaseClock(context: FaultContext): Promise<Measurements> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1').filter((path) => existsSync(path))
  if (!library) throw new NotHere('libfaketime is not installed (Debian: faketime)')
  const clock = await makeClock(await context.directory(), (ms) => `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`)
  const fake = { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock.file, FAKETIME_NO_CACHE: '1' }
  const cluster = await context.postgres({
    env: { PATH: process.env.PATH, ...fake, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  })
  const server = await context.server({ DATABASE_URL: cluster.url })
  const before = Number(psql(cluster.url, 'SELECT extract(epoch FROM clock_timestamp())'))
  await clock.set(hourMs)
  const jumped = Number(psql(cluster.url, 'SELECT extract(epoch FROM clock_timestamp())')) - before
  expect(jumped > 3_000, () => `the clock of the database has not jumped: ${jumped} s`)
  await clock.set(0)
  const jumps = context.size([hourMs, 0, -hourMs, 0], [hourMs, 0, -hourMs, 0, hourMs, -hourMs, hourMs, 0])
  const uploads = await jumpDuringUploads(server, cluster.url, clock.set, jumps)
  return {
    jumps: `${jumps.length} of ± 1 h`,
    'uploads completed once, while leases ended early or late': `${uploads.completed} of ${uploads.sent}, the rest failed`,
  }
}

export const serverClock: Fault = {
  name: 'clock-jump',
  promise:
    'A clock of a server that jumps by an hour, either way, breaks no key, login, query, tile or upload, and delays no ' +
    'revocation; limits and leases follow the clock of the database',
  run: runServerClock,
}
export const databaseClock: Fault = {
  name: 'database-clock-jump',
  promise:
    'A clock of PostgreSQL that jumps by an hour, either way, has every upload end, completed once or failed (a lease that ends early counts as a try, of three)',
  run: runDatabaseClock,
}
