import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { type HttpSink, httpSink } from '../../server/testing/peers/http-sink.ts'
import { ApiError, type Client, type ClientOptions, createClient } from './client.ts'

type Answer = Awaited<ReturnType<NonNullable<Parameters<typeof httpSink>[0]>>>

/** The server that was made last. */
let sink: HttpSink
const sinks: HttpSink[] = []
afterEach(() => Promise.all(sinks.splice(0).map((one) => one.close())))

async function serve(...args: Parameters<typeof httpSink>): Promise<HttpSink> {
  sink = await httpSink(...args)
  sinks.push(sink)
  return sink
}

/** A client of a server that gives these answers in turn, the last one again and again. */
async function scripted(answers: Answer[], options: ClientOptions = {}): Promise<Client> {
  await serve((_, count) => answers[Math.min(count, answers.length) - 1] as Answer)
  return createClient(sink.url, 'KEY', options)
}

const ok: Answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '[]' }
const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ status, code, detail: `It is ${code}.`, errors: [], requestId: 'r' }),
})
const page = (status: number): Answer => ({ status, headers: { 'content-type': 'text/html' }, body: '<h1>No</h1>' })

const outcomeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: ApiError) => `${error.status} ${error.code}`,
  )

describe('repeating', () => {
  const calls: Record<string, (client: Client) => Promise<unknown>> = {
    GET: (client) => client.styles.list(),
    query: (client) => client.datasets.query('1'),
    PUT: (client) => client.styles.metadata.set('1', { a: 1 }),
    DELETE: (client) => client.styles.delete('1'),
    POST: (client) => client.databases.publish('1'),
    PATCH: (client) => client.styles.patch('1', { name: 'x' }),
    'cancel upload': (client) => client.uploads.delete('1'),
  }
  const everything = ['GET', 'query', 'PUT', 'DELETE', 'POST', 'PATCH', 'cancel upload']
  const cases: [what: string, first: Answer, repeated: string[]][] = [
    ['429', problem(429, 'busy', { 'retry-after': '0' }), everything],
    ['503', problem(503, 'unavailable', { 'retry-after': '0' }), ['GET', 'query', 'PUT', 'DELETE']],
    ['a proxy’s 502', page(502), ['GET', 'query']],
    ['a proxy’s 504', page(504), ['GET', 'query']],
    ['the server’s own 502', problem(502, 'upstream_failed'), []],
    ['the server’s own 504', problem(504, 'query_timeout'), []],
    ['500', problem(500, 'internal'), []],
    ['400', problem(400, 'invalid_request'), []],
    ['404', problem(404, 'not_found'), []],
  ]
  for (const [what, first, repeated] of cases) {
    test(`${what} is repeated for ${repeated.join(', ') || 'nothing'} only`, async () => {
      for (const [name, call] of Object.entries(calls)) {
        const client = await scripted([first, ok])
        const outcome = await outcomeOf(call(client))
        assert.equal(outcome === 'ok', repeated.includes(name), `${name}: ${outcome}`)
        assert.equal(sink.requests.length, repeated.includes(name) ? 2 : 1, name)
      }
    })
  }

  test('a connection that breaks is tried again where that is safe', async () => {
    let connections = 0
    const broken = createServer((socket) => {
      connections++
      socket.on('error', () => {}).resetAndDestroy()
    }).listen(0, '127.0.0.1')
    await once(broken, 'listening')
    const client = createClient(`http://127.0.0.1:${(broken.address() as AddressInfo).port}`)
    for (const [name, call] of Object.entries(calls)) {
      connections = 0
      assert.equal(await outcomeOf(call(client)), '0 network_error')
      assert.equal(connections, ['GET', 'query', 'PUT', 'DELETE'].includes(name) ? 3 : 1, name)
    }
    broken.close()
  })

  test('it ends after the number of retries, with the last error', async () => {
    const client = await scripted([problem(503, 'unavailable')], { retries: 1 })
    assert.equal(await outcomeOf(client.styles.list()), '503 unavailable')
    assert.equal(sink.requests.length, 2)
  })

  test('a server that asks for long patience is not waited for', async () => {
    const client = await scripted([problem(429, 'rate_limited', { 'retry-after': '600' }), ok])
    assert.equal(await outcomeOf(client.styles.list()), '429 rate_limited')
    const later = new Date(Date.now() + 3_600_000).toUTCString()
    const again = await scripted([problem(503, 'unavailable', { 'retry-after': later }), ok])
    assert.equal(await outcomeOf(again.styles.list()), '503 unavailable')
  })

  test('Retry-After is kept', async () => {
    const client = await scripted([problem(503, 'unavailable', { 'retry-after': '1' }), ok])
    const begun = performance.now()
    await client.styles.list()
    assert.ok(performance.now() - begun >= 990)
  })
})

describe('an answer', () => {
  test('of a proxy is an error with its status', async () => {
    const client = await scripted([page(413)])
    await assert.rejects(client.styles.list(), { status: 413, code: 'http_error', message: /413 Payload Too Large/ })
  })

  test('that is not JSON is an error', async () => {
    const client = await scripted([{ ...ok, body: '{"a":' }])
    await assert.rejects(client.styles.list(), { name: 'ApiError', code: 'invalid_answer', status: 200 })
  })

  test('that leads elsewhere is not followed, so that no key goes there', async () => {
    const other = await serve()
    const client = await scripted([{ status: 307, headers: { location: `${other.url}/api/v1/styles` } }], {
      retries: 0,
    })
    assert.equal(await outcomeOf(client.styles.list()), '0 network_error')
    assert.deepEqual(other.requests, [])
  })
})

test('what the caller’s own function throws is passed on, and nothing is repeated', async () => {
  const client = await scripted([ok])
  const mistake = new Error('mine')
  const onResponse = () => {
    throw mistake
  }
  await assert.rejects(client.styles.list({ onResponse }), (error) => error === mistake)
  assert.equal(sink.requests.length, 1)
})

describe('time', () => {
  const never = (): Promise<Answer> => new Promise(() => {})

  test('a request that takes longer than its limit is given up', async () => {
    await serve(never)
    let tries = 0
    const counting: typeof fetch = (input, init) => {
      tries++
      return fetch(input, init)
    }
    const client = createClient(sink.url, 'KEY', { timeoutMs: 50, fetch: counting })
    assert.equal(await outcomeOf(client.styles.list()), '0 timeout')
    assert.equal(await outcomeOf(client.styles.list({ timeoutMs: 20 })), '0 timeout')
    assert.equal(tries, 2, 'it is not repeated')
  })

  test('an abort rejects with the reason of the signal, before, during and between tries', async () => {
    const reason = new Error('enough')
    await serve(never)
    const client = createClient(sink.url, 'KEY')
    await assert.rejects(client.styles.list({ signal: AbortSignal.abort(reason) }), (error) => error === reason)
    assert.equal(sink.requests.length, 0)
    const during = new AbortController()
    const running = [
      client.styles.list({ signal: during.signal }),
      client.databases.publish('1', {}, { signal: during.signal }),
    ]
    setTimeout(() => during.abort(reason), 20)
    for (const one of await Promise.allSettled(running)) assert.deepEqual(one, { status: 'rejected', reason })
    const waiting = await scripted([problem(503, 'unavailable', { 'retry-after': '20' })])
    const between = new AbortController()
    const list = waiting.styles.list({
      signal: between.signal,
      onResponse: () => setTimeout(() => between.abort(reason)),
    })
    await assert.rejects(list, (error) => error === reason)
  })
})

describe('credentials', () => {
  const sent = () => {
    const { 'x-api-key': key, authorization } = sink.requests.at(-1)?.headers ?? {}
    return { key, authorization }
  }

  test('the token is sent when there is one, else the key; the key of a request goes before both', async () => {
    const client = await scripted([ok])
    await client.styles.list()
    assert.deepEqual(sent(), { key: 'KEY', authorization: undefined })
    client.accessToken = 'TOKEN'
    await client.styles.list()
    assert.deepEqual(sent(), { key: undefined, authorization: 'Bearer TOKEN' })
    await client.styles.list({ apiKey: 'OTHER' })
    assert.deepEqual(sent(), { key: 'OTHER', authorization: undefined })
    client.accessToken = null
    await client.styles.list()
    assert.deepEqual(sent(), { key: 'KEY', authorization: undefined })
    client.apiKey = null
    await client.styles.list()
    assert.deepEqual(sent(), { key: undefined, authorization: undefined })
  })

  test('what belongs to the request does not go into the query', async () => {
    const client = await scripted([ok], { headers: { 'x-application-id': 'app' } })
    const signal = new AbortController().signal
    const own = { apiKey: 'K', signal, ifMatch: '"1"', timeoutMs: 9_000, onResponse() {}, headers: { 'x-own': '1' } }
    await client.styles.list({ limit: 3, ...own })
    const { path, headers } = sink.requests[0] ?? assert.fail()
    assert.equal(path, '/api/v1/styles?limit=3')
    assert.deepEqual([headers['if-match'], headers['x-own'], headers['x-application-id']], ['"1"', '1', 'app'])
  })
})

test('an error of the caller’s own fetch is a network error with its cause', async () => {
  const cause = new Error('offline')
  const client = createClient('https://host', 'KEY', { retries: 0, fetch: () => Promise.reject(cause) })
  await assert.rejects(client.styles.list(), (error: ApiError) => error instanceof ApiError && error.cause === cause)
})
