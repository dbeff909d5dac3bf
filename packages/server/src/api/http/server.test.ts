import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { type TestApp, testApp } from '../../../testing/harness.ts'
import type { Authority } from '../access/authenticate.ts'
import { createServer } from './server.ts'

// One database is enough: this is about what HTTP carries, not about what is stored.

let app: TestApp
let port: number
before(async () => {
  app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
})
after(() => app.close())

const styles = '/api/v1/styles'
const config = '/api/v1/config'

/** Bytes in, bytes out: for what no HTTP client would send. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
    socket.write(text)
  })
}

describe('an error', () => {
  test('is problem+json with a stable code, the request id, and the mirrors of older clients', async () => {
    const { status, headers, body } = await app.call('GET', `${styles}/nothing?api-key=`, { key: null })
    assert.equal(status, 401)
    assert.match(String(headers['content-type']), /^application\/problem\+json/)
    assert.equal(body.type, 'urn:graticule:problem:unauthorized')
    assert.equal(body.code, 'unauthorized')
    assert.equal(body.instance, `${styles}/nothing`)
    assert.equal(body.requestId, headers['x-request-id'])
    assert.deepEqual([body.statusCode, body.message, body.error], [401, body.detail, 'Unauthorized'])
    assert.deepEqual(body.errors, [])
    assert.ok(headers['www-authenticate'])
  })

  test('names every fault of a body by its path', async () => {
    const { status, body } = await app.call('POST', styles, { body: { name: '', nonsense: 1 } })
    assert.equal(status, 400)
    const paths = body.errors.map(({ path }: { path: string }) => path).sort()
    assert.deepEqual(paths, ['body/name', 'body/nonsense', 'body/style'])
  })

  test('names the faults of the query and of the body together, says how many there are, and helps with names', async () => {
    const { status, body } = await app.call('POST', styles, { body: { nmae: 'x', style: {} } })
    assert.equal(status, 400)
    assert.deepEqual(body.errors, [
      { path: 'body/name', code: 'required', message: 'is required' },
      {
        path: 'body/nmae',
        code: 'unknown',
        message: '"nmae" is not a known field. Did you mean "name"? Allowed: metadata, name, description, type, style.',
      },
    ])
    assert.equal(body.detail, 'body/name: is required. The request has 2 faults: see "errors".')
    const list = await app.call('GET', `${styles}?limit=x&offset=-1&fields=nmae`)
    assert.deepEqual(
      list.body.errors.map(({ path }: { path: string }) => path),
      ['query/limit', 'query/offset'],
    )
  })

  test('says nothing of a path, a host or SQL when the fault is ours', async () => {
    const { body } = await app.call('GET', `${styles}?offset=1000000001`)
    assert.equal(body.status, 400)
    assert.doesNotMatch(JSON.stringify(body), /SELECT|svc\.|node_modules|\/src\//)
  })
})

describe('credentials', () => {
  test('come by either header or by query, and equal duplicates are fine', async () => {
    for (const request of [
      { url: config, headers: { 'x-api-key': app.master } },
      { url: config, headers: { 'x-svc-api-key': app.master } },
      { url: `${config}?api-key=${app.master}`, headers: {} },
      { url: `${config}?api-key=${app.master}`, headers: { 'x-api-key': app.master, 'x-svc-api-key': app.master } },
      { url: `${config}?api-key=${app.master}&api-key=${app.master}`, headers: {} },
      { url: config, headers: { 'X-API-KEY': app.master.toUpperCase() } },
    ]) {
      assert.equal((await app.call('GET', request.url, { key: null, headers: request.headers as never })).status, 200)
    }
  })

  test('that differ within one request are refused', async () => {
    const other = '11111111-2222-4333-8444-555555555555'
    for (const request of [
      { url: config, headers: { 'x-api-key': app.master, 'x-svc-api-key': other } },
      { url: `${config}?api-key=${other}`, headers: { 'x-api-key': app.master } },
      { url: `${config}?api-key=${app.master}&api-key=${other}`, headers: {} },
      { url: config, headers: { 'x-api-key': `${app.master}, ${app.master}` } },
      { url: `${config}?api-key[x]=${app.master}`, headers: {} },
    ]) {
      assert.equal((await app.call('GET', request.url, { key: null, headers: request.headers as never })).status, 401)
    }
  })

  test('sent twice in one header are told from a comma-joined value', async () => {
    const line = `X-Api-Key: ${app.master}\r\n`
    const head = `GET ${config} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
    assert.match(await raw(`${head}${line}${line}\r\n`), /^HTTP\/1\.1 200/)
    assert.match(
      await raw(`${head}${line}X-Api-Key: ${app.master.replace(/./, (digit) => (digit === 'f' ? 'e' : 'f'))}\r\n\r\n`),
      /^HTTP\/1\.1 401/,
    )
  })
})

describe('methods and addresses', () => {
  test('a known address with another method is 405 and says which it has', async () => {
    const reply = await app.call('DELETE', styles)
    assert.equal(reply.status, 405)
    assert.equal(reply.headers.allow, 'GET, HEAD, POST, OPTIONS')
    assert.equal((await app.call('PATCH', '/api/v1/healthcheck', { body: {} })).status, 405)
    for (const method of ['QUERY', 'PROPFIND', 'REPORT', 'TRACE']) {
      const odd = await app.call(method, '/api/v1/healthcheck')
      assert.equal(odd.status, 405, method)
      assert.match(odd.body.detail, new RegExp(`^${method} is not allowed here`))
      assert.equal((await app.call(method, '/api/v1/nowhere')).status, 404)
    }
    assert.equal((await app.call('POST', '/api/v1/appconfig/a.key', { body: {} })).status, 405)
  })

  test('an unknown address is 404', async () => {
    for (const url of ['/api/v1/nothing', '/api/v2/styles', '/api/v1/styles/a/b/c/d']) {
      const reply = await app.call('GET', url)
      assert.equal(reply.status, 404)
      assert.equal(reply.body.code, 'not_found')
    }
  })

  test('HEAD answers as GET does, without the body', async () => {
    const get = await app.call('GET', styles)
    const head = await app.call('HEAD', styles)
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
    for (const name of ['x-total-count', 'content-type', 'content-length'])
      assert.equal(head.headers[name], get.headers[name])
  })

  test('a path with a semicolon, NUL or broken encoding is 400', async () => {
    for (const url of [
      '/api/v1/styles;a=b',
      '/api/v1/styles/x%3Bjsessionid=1',
      '/api/v1/styles/%00',
      '/api/v1/styles/%zz',
    ]) {
      assert.equal((await app.call('GET', url)).status, 400, url)
    }
  })

  test('a too long address is 414, in any length', async () => {
    for (const length of [8_200, 20_000, 100_000]) {
      const answer = await raw(
        `GET /api/v1/styles?x=${'a'.repeat(length)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      assert.match(answer, /^HTTP\/1\.1 414/, String(length))
      assert.match(answer, /problem\+json/i)
    }
  })

  test('too large headers are 431, rubbish is 400, both as a problem', async () => {
    assert.match(
      await raw(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(50_000)}\r\n\r\n`),
      /^HTTP\/1\.1 431[\s\S]*problem\+json/i,
    )
    assert.match(await raw('rubbish\r\n\r\n'), /^HTTP\/1\.1 400[\s\S]*problem\+json/i)
  })
})

test('a request whose headers never end is told the time that it had', () => {
  const sent: string[] = []
  const socket = { writable: true, end: (answer: string) => sent.push(answer) }
  app.http.server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  const { code, limit, limitName } = JSON.parse(sent[0]?.split('\r\n\r\n')[1] ?? '')
  assert.deepEqual({ code, limit, limitName }, { code: 'request_timeout', limit: 60_000, limitName: 'bodyMs' })
})

describe('bodies', () => {
  const post = (raw: string, headers: Record<string, string> = {}) => app.call('POST', styles, { raw, headers })

  test('that are too large are 413', async () => {
    const reply = await app.call('POST', '/api/v1/applications', { raw: `{"name":"${'a'.repeat(1_100_000)}"}` })
    assert.equal(reply.status, 413)
    assert.equal(reply.body.code, 'too_large')
  })

  test('that are not JSON by type are 415, by content 400', async () => {
    assert.equal((await post('<a/>', { 'content-type': 'text/xml' })).status, 415)
    assert.equal((await post('{', {})).body.code, 'invalid_json')
    assert.equal((await post('', {})).status, 400)
    assert.equal((await app.call('POST', styles)).status, 400)
  })

  test('of any JSON type are read as such', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json']) {
      assert.equal((await post('[]', { 'content-type': type })).body.errors[0].code, 'type', type)
    }
  })

  test('with keys that reach a prototype, or nested without end, are 400', async () => {
    assert.equal((await post('{"name":"a","metadata":{"__proto__":{"x":1}}}')).status, 400)
    assert.equal((await post(`{"name":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)).status, 400)
  })

  test('of which there is only the type are refused at once, since nothing will come', async () => {
    for (const [path, type] of [
      [styles, 'application/json'],
      [styles, 'text/xml'],
      ['/api/v1/uploads', 'multipart/form-data; boundary=a'],
    ]) {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${app.master}\r\nConnection: close\r\n`
      assert.match(await raw(`${head}Content-Type: ${type}\r\n\r\n`), /^HTTP\/1\.1 4(00|15)/, type)
    }
  })

  test('are not read before the key is known', async () => {
    assert.equal((await app.call('POST', styles, { key: null, raw: '{' })).status, 401)
  })
})

describe('headers', () => {
  test('a request id is kept when it is sane, and made otherwise', async () => {
    const sent = await app.call('GET', config, { headers: { 'x-request-id': 'trace-12345' } })
    assert.equal(sent.headers['x-request-id'], 'trace-12345')
    const odd = await app.call('GET', config, { headers: { 'x-request-id': 'a b\t"' } })
    assert.match(String(odd.headers['x-request-id']), /^[0-9a-f-]{36}$/)
  })

  test('a preflight allows every header a client may send, and answers expose what it reads', async () => {
    const preflight = await app.call('OPTIONS', styles, {
      key: null,
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-api-key',
      },
    })
    assert.equal(preflight.status, 204)
    const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase()
    for (const name of [
      'x-api-key',
      'x-svc-api-key',
      'authorization',
      'authentication',
      'content-type',
      'x-application-id',
      ...['idempotency-key', 'if-match', 'if-none-match', 'last-event-id', 'prefer', 'traceparent'],
      ...['mcp-protocol-version', 'mcp-session-id'],
    ]) {
      assert.ok(allowed.split(', ').includes(name), name)
    }
    const { headers } = await app.call('GET', styles, { key: null, headers: { origin: 'https://a.example' } })
    assert.equal(headers['access-control-allow-origin'], '*')
    for (const name of ['X-Total-Count', 'Link', 'ETag', 'X-Request-Id', 'Retry-After', 'Mcp-Session-Id']) {
      assert.ok(String(headers['access-control-expose-headers']).includes(name), name)
    }
  })

  test('every answer is guarded against sniffing, and keyed ones against shared caches', async () => {
    const { headers } = await app.call('GET', config)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['cache-control']), /private/)
    assert.match(String(headers.vary), /x-api-key/)
  })
})

test('a server that stops does not wait for those who have connected and said nothing', async () => {
  const other = await testApp()
  await other.http.listen({ port: 0, host: '127.0.0.1' })
  const { port } = other.http.server.address() as AddressInfo
  const silent = connect(port, '127.0.0.1').on('error', () => {})
  await once(silent, 'connect')
  const asked = await fetch(`http://127.0.0.1:${port}/api/v1/healthcheck`)
  assert.equal(asked.status, 200)
  const begun = performance.now()
  await other.close()
  assert.ok(performance.now() - begun < 20_000)
})

test('a line of the log says of which request it is, and no path that is no operation’s', async () => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const authority = {} as Authority
  const http = await createServer(
    [],
    authority,
    {},
    { logger, trustProxy: false, bodyLimit: 1, isStopping: () => false },
  )
  await http.inject({ url: '/nothing?api-key=secret', headers: { 'x-request-id': 'of-this-request' } })
  await http.close()
  const [line] = lines.filter(({ msg }) => msg === 'request')
  assert.deepEqual([line?.requestId, line?.path, line?.status], ['of-this-request', undefined, 404])
})
