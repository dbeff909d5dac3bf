import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { echo } from '../../../testing/agent-worker.ts'
import { agentWorld, until } from '../../../testing/agent-world.ts'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { serveMetrics } from './metrics-port.ts'

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('a')
})
after(() => app.close())

const value = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('the figures of the server', () => {
  test('are for master keys only', async () => {
    for (const key of [null, tenant.developer, tenant.public]) {
      assert.equal((await app.call('GET', '/metrics', { key })).status, 401)
    }
    const { status, headers } = await app.call('GET', '/metrics')
    assert.equal(status, 200)
    assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  })

  test('are lines that Prometheus reads, each series once', async () => {
    const { text } = await app.call('GET', '/metrics')
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    assert.ok(series.length > 30)
    for (const line of series)
      assert.match(line, /^[a-z_][a-z0-9_]*(\{([a-z_]+="[^"\n]*",?)*\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/i)
    const names = series.map((line) => line.replace(/ \S+$/, ''))
    assert.equal(new Set(names).size, names.length)
    assert.equal(value(text, 'graticule_info{version="0.0.0-test"}'), 1)
    assert.equal(value(text, 'graticule_agent_workers'), 0)
    assert.ok((value(text, 'process_resident_memory_bytes') ?? 0) > 1e6)
  })

  test('count requests by operation and status, and never by what is in the address', async () => {
    await app.call('GET', '/metrics')
    for (let index = 0; index < 3; index++) await app.call('GET', '/api/v1/styles')
    await app.call('GET', '/api/v1/styles', { key: null })
    await app.call('GET', '/api/v1/nothing-here-4711')
    const { text } = await app.call('GET', '/metrics')
    const count = (operation: string, status: number) =>
      value(text, `graticule_http_request_duration_seconds_count{operation="${operation}",status="${status}"}`)
    assert.equal(count('styles.list', 200), 3)
    assert.equal(count('styles.list', 401), 1)
    assert.ok((count('none', 404) ?? 0) >= 1)
    assert.ok(!text.includes('nothing-here'))
    assert.ok(!text.includes(tenant.id))
  })

  test('count tiles, and tell those that were kept from those that were made', async () => {
    const before = (await app.call('GET', '/metrics')).text
    for (let index = 0; index < 2; index++) await app.call('GET', '/tiles/basemap/0/0/0.pbf', { key: null })
    const { text } = await app.call('GET', '/metrics')
    const grown = (kept: boolean) => {
      const series = `graticule_tiles_total{of="archive",kept="${kept}"}`
      return (value(text, series) ?? 0) - (value(before, series) ?? 0)
    }
    assert.deepEqual([grown(false), grown(true)], [1, 1])
    assert.ok((value(text, 'graticule_tile_cache_bytes') ?? 0) > 0)
  })

  test('count invocations by what became of them, late frames and how long a cancelled worker holds on', async () => {
    const world = await agentWorld()
    try {
      const read = async () => (await world.app.call('GET', '/metrics')).text
      const before = await read()
      const id = await world.agent()
      assert.equal((await world.invoke(id, { input: 'x' })).status, 503)
      await world.worker(id, async (job) => {
        if (job.invoke.input !== 'hold') return echo(job)
        job.send({ t: 'accept' })
        job.send({ t: 'delta', text: 'a' })
        await job.cancelled
        job.send({ t: 'delta', text: 'b' })
        job.send({ t: 'cancelled' })
      })
      assert.equal((await world.invoke(id, { input: 'x' })).status, 200)
      const leaving = new AbortController()
      await world.stream(id, { input: 'hold' }, leaving.signal)
      assert.equal(value(await read(), 'graticule_agent_invocations_in_flight'), 1)
      leaving.abort()
      const grown = async (series: string) => (value(await read(), series) ?? 0) - (value(before, series) ?? 0)
      await until(async () => (await grown('graticule_agent_cancel_to_release_seconds_count')) === 1, 'it is held')
      assert.equal(await grown('graticule_agent_late_frames_total'), 1)
      assert.equal(await grown('graticule_agent_invocations_total{code="ok"}'), 1)
      assert.equal(await grown('graticule_agent_invocations_total{code="agent_unavailable"}'), 1)
      assert.equal(await grown('graticule_agent_invocations_total{code="cancelled"}'), 1)
      assert.equal(await grown('graticule_agent_first_output_seconds_count'), 2)
      const after = await read()
      assert.equal(value(after, 'graticule_agent_workers'), 1)
      assert.equal(value(after, 'graticule_agent_invocations_in_flight'), 0)
    } finally {
      await world.close()
    }
  })

  test('are there without a key on a port of their own, and nothing else is', async () => {
    const server = await serveMetrics(app.services.metrics, 0, '127.0.0.1')
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const reply = await fetch(`${base}/metrics`)
      assert.equal(reply.status, 200)
      assert.match(await reply.text(), /^graticule_info\{version="0\.0\.0-test"\} 1$/m)
      assert.equal((await fetch(`${base}/api/v1/styles`)).status, 404)
      assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 404)
    } finally {
      server.close()
    }
  })
})
