import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { testApp } from '../../../testing/harness.ts'
import { startNats } from '../../../testing/peers/nats.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createReadiness, type ReadinessParts } from './readiness.ts'

const path = '/api/v1/readiness'
const onPostgres = process.env.TEST_DATABASE_URL ? { rights: 'ok', postgis: 'ok', tenants: 'ok' } : {}
const allGood = { process: 'ok', database: 'ok', migrations: 'ok', storage: 'ok', work: 'ok' }
/** Those of a server. */
const served = { ...allGood, ...onPostgres }

/** A database on a busy machine may take longer than readiness waits for it. */
const idle = (checks: object): object =>
  'database' in checks && checks.database === 'busy' ? { ...checks, database: 'ok' } : checks

/** Readiness where all is well but for `changed`, on a database that never answers. */
const readinessWith = (changed: Partial<ReadinessParts>) =>
  createReadiness({
    db: { kind: 'embedded', query: () => new Promise(() => {}) },
    health: { check: async () => 'ok' },
    storage: { state: async () => 'ok' },
    failing: () => [],
    isStopping: () => false,
    ...changed,
  })

test('a server is ready while nothing hinders it, and busy is no hindrance', async () => {
  assert.deepEqual(await readinessWith({}).check(), { isReady: true, checks: allGood, reasons: [] })
  const busy = await readinessWith({ health: { check: async () => 'busy' } }).check()
  assert.deepEqual(busy, { isReady: true, checks: { ...allGood, database: 'busy' }, reasons: [] })
})

test('each thing that hinders a server makes it unready, and is named', async () => {
  const lost = { check: () => Promise.reject(new Error('gone')) }
  const full = { state: async () => 'full' as const }
  const hindrances: [Partial<ReadinessParts>, object][] = [
    [{ isStopping: () => true }, { process: 'stopping' }],
    [{ health: lost }, { database: 'unavailable', migrations: 'unknown' }],
    [{ storage: full }, { storage: 'full' }],
    [{ bus: { isConnected: () => false } }, { bus: 'disconnected' }],
    [{ failing: () => ['sweeps'] }, { work: 'failing' }],
  ]
  for (const [changed, said] of hindrances) {
    const { isReady, checks, reasons } = await readinessWith(changed).check()
    assert.deepEqual([isReady, checks], [false, { ...allGood, ...said }])
    assert.deepEqual(
      reasons.map((reason) => reason.split(':')[0]),
      Object.keys(said),
    )
  }
})

test('a thousand probes at once are one look, and stopping is seen at once all the same', async () => {
  let looks = 0
  let isStopping = false
  const check = async () => {
    looks += 1
    return 'ok' as const
  }
  const readiness = readinessWith({ health: { check }, isStopping: () => isStopping })
  await Promise.all(Array.from({ length: 1_000 }, () => readiness.check()))
  isStopping = true
  assert.equal((await readiness.check()).isReady, false)
  assert.equal(looks, 1)
})

test('readiness is 200 without a key, and 503 while the database lacks migrations; liveness stays 200', async () => {
  const app = await testApp()
  try {
    const { status, body, headers } = await app.call('GET', path, { key: null })
    assert.deepEqual([status, { ...body, checks: idle(body.checks) }], [200, { status: 'ready', checks: served }])
    assert.equal(headers['cache-control'], 'no-store')
    await app.db.query(sql`DELETE FROM svc.migrations WHERE number > 5`)
    const replica = await app.replica()
    const probe = async () => (await replica.http.inject(path)).json()
    await until(async () => (await probe()).checks.migrations === 'missing')
    const refused = await replica.http.inject(path)
    assert.deepEqual([refused.statusCode, refused.json().status], [503, 'unready'])
    assert.ok(refused.headers['retry-after'])
    assert.equal((await replica.http.inject('/api/v1/liveness')).statusCode, 200)
  } finally {
    await app.close()
  }
})

test('a stopping server is unready at once and takes requests as long as its notice lasts', async () => {
  const app = await testApp()
  try {
    const stopping = await app.replica()
    await stopping.http.listen({ port: 0, host: '127.0.0.1' })
    const base = `http://127.0.0.1:${(stopping.http.server.address() as AddressInfo).port}`
    const ask = (address: string) => fetch(`${base}${address}`, { headers: { 'x-api-key': app.master } })
    assert.equal((await ask(path)).status, 200)
    const closing = stopping.close({ noticeMs: 10_000 })
    const refused = await ask(path)
    const { checks } = (await refused.json()) as { checks: object }
    assert.deepEqual([refused.status, idle(checks)], [503, { ...served, process: 'stopping' }])
    assert.equal((await ask('/api/v1/styles')).status, 200)
    await closing
    await assert.rejects(ask(path))
  } finally {
    await app.close()
  }
})

test('a server that lost its bus is unready until the bus is back', async () => {
  const first = await startNats()
  const app = await testApp({ NATS_URL: first.url })
  const bus = async () => (await app.call('GET', path, { key: null })).body.checks.bus
  try {
    assert.equal(await bus(), 'ok')
    await first.stop()
    await until(async () => (await bus()) === 'disconnected')
    const second = await startNats(Number(new URL(first.url).port))
    try {
      await until(async () => (await bus()) === 'ok')
    } finally {
      await app.close()
      await second.stop()
    }
  } catch (error) {
    await app.close()
    throw error
  }
})
