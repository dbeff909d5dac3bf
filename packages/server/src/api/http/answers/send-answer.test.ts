import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import type { Authority } from '../../access/authenticate.ts'
import { type Answer, operation } from '../operation.ts'
import { createServer } from '../server.ts'

const answers: Record<string, () => Answer> = {
  json: () => ({ body: { a: 1 } }),
  compressed: () => ({ body: 'a'.repeat(5_000) }),
  bytes: () => ({ headers: { 'content-type': 'text/plain' }, body: Buffer.from('bytes') }),
  stream: () => ({ headers: { 'content-type': 'text/plain' }, body: Readable.from([Buffer.from('stream')]) }),
  nothing: () => ({ status: 204 }),
  unchanged: () => ({ status: 304, headers: { etag: '"a"' } }),
  failed: () => {
    throw new Error('failed')
  },
}

const operations = Object.entries(answers).map(([name, answer]) =>
  operation({
    id: name,
    method: 'GET',
    path: `/${name}`,
    summary: name,
    access: 'public',
    success: { status: 200, description: name },
    // Both ways in which a handler may answer.
    handle: name === 'json' ? answer : async () => answer(),
  }),
)

async function headersOf(name: string, { isStopping = false, headers = {} } = {}) {
  const options = { logger: pino({ level: 'silent' }), trustProxy: true, bodyLimit: 1, isStopping: () => isStopping }
  const http = await createServer(operations, {} as Authority, {}, options)
  const reply = await http.inject({ url: `/${name}`, headers: { 'x-forwarded-proto': 'https', ...headers } })
  await http.close()
  return reply.headers
}

test('every kind of answer has the common headers, and its request id', async () => {
  for (const name of Object.keys(answers)) {
    const headers = await headersOf(name, {
      headers: { 'x-request-id': `id-of-${name}`, 'accept-encoding': name === 'compressed' ? 'gzip' : 'identity' },
    })
    assert.equal(headers['x-request-id'], `id-of-${name}`)
    assert.equal(headers['content-encoding'], name === 'compressed' ? 'gzip' : undefined)
    for (const common of [
      ...['access-control-allow-origin', 'access-control-expose-headers', 'content-security-policy'],
      ...['cross-origin-resource-policy', 'referrer-policy', 'x-content-type-options', 'x-frame-options'],
      'strict-transport-security',
    ])
      assert.ok(headers[common], `${name}: ${common}`)
  }
})

test('every kind of answer of a server that stops closes its connection', async () => {
  for (const name of Object.keys(answers)) {
    assert.equal((await headersOf(name, { isStopping: true })).connection, 'close', name)
    assert.notEqual((await headersOf(name)).connection, 'close', name)
  }
})

test('a whole answer says how long it is, and bytes of no type are a file', async () => {
  assert.equal((await headersOf('bytes'))['content-length'], '5')
  assert.equal((await headersOf('json'))['content-type'], 'application/json; charset=utf-8')
  for (const name of ['nothing', 'unchanged']) assert.equal((await headersOf(name))['content-length'], undefined)
})
