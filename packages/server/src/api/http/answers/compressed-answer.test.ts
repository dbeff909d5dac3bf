import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import * as zlib from 'node:zlib'
import { pino } from 'pino'
import Type from 'typebox'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import type { Authority } from '../../access/authenticate.ts'
import { operation } from '../operation.ts'
import { createServer } from '../server.ts'

// One database is enough: what is compressed does not say where it came from.

let app: TestApp
let own: Tenant
let dataset: string
let style: string
before(async () => {
  app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  own = await app.tenant('own')
  const key = own.developer
  const source =
    "SELECT i AS id, 'row ' || i AS name, ST_Point(i % 90, 1, 4326) AS geom FROM generate_series(1, 20000) i"
  dataset = (await app.call('POST', '/api/v1/datasets', { key, body: { type: 'sql', name: 'rows', source } })).body.id
  const body = { name: 's', style: { version: 8, sources: {}, layers: [], metadata: { text: 'long '.repeat(1_000) } } }
  style = (await app.call('POST', '/api/v1/styles', { key, body })).body.id
})
after(() => app.close())

type Headers = Record<string, string>

async function ask(
  port: number,
  path: string,
  headers: Headers = {},
  method = 'GET',
  body = '',
): Promise<IncomingMessage> {
  const asked = httpRequest({ port, host: '127.0.0.1', path, method, headers })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

const get = (path: string, accept: string, rest: Headers = {}, method = 'GET') =>
  ask(
    (app.http.server.address() as AddressInfo).port,
    path,
    { 'x-api-key': own.developer, 'accept-encoding': accept, ...rest },
    method,
  )

const decoders = { gzip: zlib.createGunzip, br: zlib.createBrotliDecompress, zstd: zlib.createZstdDecompress }
const codings = ['gzip', 'br', 'zstd'] as const

const decoded = (answer: IncomingMessage): Readable => {
  const decoder = decoders[answer.headers['content-encoding'] as keyof typeof decoders]
  return decoder ? pipeline(answer, decoder(), () => {}) : answer
}
const textOf = async (answer: IncomingMessage) => (await buffer(decoded(answer))).toString()

describe('an answer larger than a kilobyte', () => {
  test('is compressed as the client accepts, and is the same once unpacked', async () => {
    const query = `/api/v1/datasets/${dataset}/query`
    const paths = [
      `${query}?format=csv`,
      `${query}?format=geojson`,
      `${query}?limit=100`,
      '/api/v1/openapi.json',
      `/api/v1/styles`,
    ]
    for (const path of paths) {
      const plain = await textOf(await get(path, 'identity'))
      for (const coding of codings) {
        const answer = await get(path, coding)
        assert.equal(answer.headers['content-encoding'], coding, path)
        assert.match(String(answer.headers.vary), /accept-encoding/)
        const text = await textOf(answer)
        assert.ok(text === plain, `${path} ${coding}`)
      }
    }
  })

  test('follows the weights of Accept-Encoding', async () => {
    for (const [accept, coding] of [
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip;q=1, br;q=0.5', 'gzip'],
      ['br;q=0, gzip;q=0.1', 'gzip'],
      ['deflate', undefined],
      ['*;q=0', undefined],
      ['identity;q=1, gzip;q=0.5', undefined],
    ] as const) {
      const answer = await get('/api/v1/openapi.json', accept)
      answer.destroy()
      assert.equal(answer.headers['content-encoding'], coding, accept)
    }
  })

  test('has the same headers by HEAD', async () => {
    for (const path of ['/api/v1/openapi.json', `/api/v1/styles/${style}`, `/api/v1/datasets/${dataset}/query`]) {
      const whole = await get(path, 'br')
      const head = await get(path, 'br', {}, 'HEAD')
      assert.equal((await buffer(head)).length, 0)
      for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
        assert.equal(head.headers[name], whole.headers[name], `${path} ${name}`)
      await textOf(whole)
    }
  })

  test('has an entity tag of its own for each coding, which later requests may name', async () => {
    const path = `/api/v1/styles/${style}`
    const tags = new Set<string>()
    for (const coding of ['identity', ...codings]) {
      const { etag = '' } = (await get(path, coding)).resume().headers
      tags.add(etag)
      const again = (await get(path, coding, { 'if-none-match': `"x", ${etag}` })).resume()
      assert.deepEqual([again.statusCode, again.headers.etag], [304, etag])
    }
    assert.equal(tags.size, 4)
    for (const etag of ['"999-br"', '"1-rot13"']) {
      const reply = await app.call('PATCH', path, { key: own.developer, body: {}, headers: { 'if-match': etag } })
      assert.equal(reply.status, 412)
    }
    const headers = { 'if-match': [...tags].find((tag) => tag.endsWith('-br"')) ?? '' }
    const changed = await app.call('PATCH', path, { key: own.developer, body: { name: 't' }, headers })
    assert.equal(changed.status, 200, changed.text)
  })
})

test('what is small, and what holds credentials, is sent as it is', async () => {
  for (let count = 0; count < 6; count += 1) await app.key(own.id, { '*': { read: '*' } })
  for (const path of ['/api/v1/config', '/api/v1/apikeys', `/api/v1/applications/${own.id}`, '/api/v1/auth/users']) {
    const answer = await get(path, 'gzip, br, zstd')
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-encoding'], undefined, path)
    await textOf(answer)
  }
})

describe('a stream', () => {
  /** A server with one answer, and the stream that it is made of. */
  async function serving(contentType: string) {
    const body = new Readable({ read() {} })
    const lines: string[] = []
    const stream = operation({
      id: 'a.stream',
      method: 'GET',
      path: '/stream',
      summary: '',
      access: 'public',
      success: { status: 200, description: '', schema: Type.Unknown() },
      handle: async () => ({ headers: { 'content-type': contentType }, body }),
    })
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const options = { logger, trustProxy: false, bodyLimit: 1, isStopping: () => false }
    const http = await createServer([stream], {} as Authority, {}, options)
    await http.listen({ port: 0, host: '127.0.0.1' })
    const { port } = http.server.address() as AddressInfo
    return { body, lines, port, close: () => http.close() }
  }

  test('of rows that come slowly is not kept back', async (t) => {
    for (const coding of codings) {
      const { body, port, close } = await serving('text/csv')
      t.after(close)
      body.push('a,b\r\n')
      const answer = await ask(port, '/stream', { 'accept-encoding': coding })
      assert.equal(answer.headers['content-encoding'], coding)
      const text = decoded(answer)
      for (const row of ['1,2\r\n', '3,4\r\n']) {
        const [before] = await once(text, 'data')
        assert.match(String(before), /\r\n$/)
        body.push(row)
      }
      assert.equal(String((await once(text, 'data'))[0]), '3,4\r\n')
      body.push(null)
      text.resume()
      await once(text, 'end')
    }
  })

  test('ends when its reader leaves', async (t) => {
    const { body, port, close } = await serving('text/csv')
    t.after(close)
    body.push('a,b\r\n')
    const answer = await ask(port, '/stream', { 'accept-encoding': 'br' })
    const closed = new Promise((resolve) => body.on('error', () => {}).once('close', resolve))
    answer.destroy()
    await closed
    assert.ok(body.destroyed)
  })

  test('that breaks does not look like a whole one', async (t) => {
    for (const coding of codings) {
      const { body, port, close } = await serving('application/json')
      t.after(close)
      body.on('error', () => {}).push('[1')
      const answer = await ask(port, '/stream', { 'accept-encoding': coding })
      const text = textOf(answer)
      body.destroy(new Error('The source broke'))
      await assert.rejects(text)
      assert.equal(answer.complete, false)
    }
  })

  test('of events is not compressed', async (t) => {
    const { body, port, close } = await serving('text/event-stream; charset=utf-8')
    t.after(close)
    body.push('event: start\n\n')
    const answer = await ask(port, '/stream', { 'accept-encoding': 'br, gzip' })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(String((await once(answer, 'data'))[0]), 'event: start\n\n')
    answer.destroy()
  })
})
