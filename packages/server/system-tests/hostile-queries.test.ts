import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultLimits } from '../src/kernel/db/embedded/embedded-limits.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { until } from '../testing/until.ts'

/** Minutes of work that calls out for nothing. */
const few = '(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))'
const endless = `SELECT count(*) AS n FROM ${Array.from({ length: 10 }, (_, index) => `${few} t${index}`).join(', ')}`

const mebibyte = 1024 * 1024
/** Half of the usual time and a quarter of the usual disk: embedded-limits.test.ts reaches the usual ones. */
const limits = {
  ...defaultLimits,
  cpuMs: 5_000,
  temporaryBytes: 64 * mebibyte,
  answerBytes: 64 * mebibyte,
}

/** For starting anew, on a busy machine; those who left would take 75 s. */
const restartMs = 60_000

const onEmbedded = { skip: process.env.TEST_DATABASE_URL ? 'PostgreSQL has a session for each' : false }

test('a query on the embedded database has the limits that the documentation names', () => {
  const { cpuMs, elapsedMs, memoryBytes, temporaryBytes, answerBytes } = defaultLimits
  assert.deepEqual([cpuMs, elapsedMs], [10_000, 20_000])
  assert.deepEqual([memoryBytes, temporaryBytes, answerBytes], Array(3).fill(256 * mebibyte))
})

describe('while one tenant keeps the embedded database busy', onEmbedded, () => {
  let app: TestApp
  let greedy: Tenant
  let modest: Tenant
  let base: string
  let small: string

  before(async () => {
    app = await testApp({}, undefined, limits)
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    base = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}/api/v1`
    greedy = await app.tenant('greedy')
    modest = await app.tenant('modest')
    small = await create(modest, 'SELECT 1 AS one')
    assert.equal((await ask(modest, small)).status, 200)
  })
  after(() => app.close())

  async function create({ developer }: Tenant, source: string): Promise<string> {
    const { body, status, text } = await app.call('POST', '/api/v1/datasets', {
      key: developer,
      body: { type: 'sql', name: 'a', source, metadata: {} },
    })
    assert.equal(status, 201, text)
    return body.id
  }

  const ask = ({ developer }: Tenant, id: string, query = '', signal?: AbortSignal): Promise<Response> =>
    fetch(`${base}/datasets/${id}/query?${query}`, {
      headers: { 'x-api-key': developer },
      ...(signal && { signal }),
    })

  const jsonOf = async (answer: Response): Promise<Record<string, unknown>> =>
    (await answer.json()) as Record<string, unknown>

  /** The times of healthchecks, one after the other, until told to stop. */
  function watchHealth() {
    const times: number[] = []
    const seen = new Set<string>()
    let isOver = false
    const watching = (async () => {
      while (!isOver) {
        const start = performance.now()
        const answer = await fetch(`${base}/healthcheck`)
        assert.equal(answer.status, 200, await answer.clone().text())
        seen.add(String((await jsonOf(answer)).database))
        times.push(performance.now() - start)
        await sleep(20)
      }
    })()
    const end = async () => {
      isOver = true
      await watching
      times.sort((a, b) => a - b)
      return { p99: times[Math.floor(times.length * 0.99)] ?? 0, count: times.length }
    }
    return { seen, end }
  }

  test('others are answered after one query at most, and the healthcheck at once', async (t) => {
    const id = await create(greedy, endless)
    const leaving = new AbortController()
    const health = watchHealth()
    t.after(() => leaving.abort())
    t.after(() => health.end())
    const first = ask(greedy, id, 'timeout=300000')
    await until(async () => health.seen.has('busy'))
    // With the first one as many as an application may run at once.
    const attacks = Array.from({ length: 15 }, () =>
      ask(greedy, id, 'timeout=300000', leaving.signal).catch(() => null),
    )
    await sleep(200)
    let stopped = 0
    for (const attack of [first, ...attacks]) void attack.then(() => stopped++)
    const answer = await ask(modest, small)
    assert.deepEqual([answer.status, await answer.json()], [200, [{ one: 1 }]])
    assert.ok(stopped <= 1, `${stopped} queries of the other tenant went before`)
    const refused = await first
    assert.equal(refused.status, 504)
    assert.match(
      String((await jsonOf(refused)).detail),
      /longer than 5 s of CPU time, or 20 s in all, the limits of the embedded database/,
    )
    leaving.abort()
    await Promise.all(attacks)
    const { p99, count } = await health.end()
    t.diagnostic(`p99 of ${count} healthchecks: ${Math.round(p99)} ms`)
    // 100 ms on a machine that does nothing else; one that waits for the queries takes 5 s.
    assert.ok(p99 < 4_000, `p99 of ${count} healthchecks: ${p99} ms`)
    const again = performance.now()
    assert.equal((await ask(modest, small)).status, 200)
    assert.ok(performance.now() - again < restartMs, 'those who left are not carried out')
  })

  const tooMuch: [string, RegExp, string][] = [
    [
      'memory',
      /256 MB of memory/,
      `SELECT array_agg(repeat('x', 1000)) AS a FROM ${few} a, ${few} b, ${few} c, ${few} d, ${few} e, ${few} f`,
    ],
    [
      'temporary files',
      /64 MB of temporary files/,
      `SELECT md5(t::text) AS m FROM (SELECT repeat('x', 1000) || a.column1 || b.column1 || c.column1 AS t FROM ${few} a, ${few} b, ${few} c, ${few} d, ${few} e, ${few} f ORDER BY 1) s`,
    ],
    [
      'answer',
      /answer is larger than 64 MB/,
      `SELECT repeat('x', 100000) AS t FROM ${few} a, ${few} b, ${few} c, ${few} d`,
    ],
  ]
  for (const [what, message, source] of tooMuch) {
    test(`a query with too much ${what} is 413 and says what to do`, async () => {
      const answer = await ask(greedy, await create(greedy, source))
      const { code, detail } = await jsonOf(answer)
      // On a machine that is busy otherwise the time may be over before.
      if (answer.status === 504) return assert.equal(code, 'query_timeout')
      assert.deepEqual([answer.status, code], [413, 'too_large'])
      assert.match(String(detail), message)
      assert.match(String(detail), /PostgreSQL/)
      assert.equal((await ask(modest, small)).status, 200)
    })
  }
})
