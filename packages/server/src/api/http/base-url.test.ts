import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Fastify from 'fastify'
import { baseUrlOf } from './base-url.ts'

type Options = { configured?: string; trustProxy?: boolean | string; from?: string; headers?: Record<string, string> }

async function baseUrl({
  configured,
  trustProxy = false,
  from = '203.0.113.7',
  headers = {},
}: Options): Promise<string> {
  const app = Fastify({ trustProxy })
  app.get('/', async (request) => baseUrlOf(request, configured, trustProxy !== false))
  const reply = await app.inject({ url: '/', remoteAddress: from, headers: { host: 'evil.example', ...headers } })
  await app.close()
  return reply.body
}

const forwarded = { 'x-forwarded-host': 'maps.example.org', 'x-forwarded-proto': 'https' }

describe('the address that clients use', () => {
  test('is the configured one, whatever a request says', async () => {
    const configured = 'https://maps.example.org/base/'
    assert.equal(await baseUrl({ configured, trustProxy: true, headers: forwarded }), 'https://maps.example.org/base')
    assert.equal(await baseUrl({ configured }), 'https://maps.example.org/base')
  })

  test('is what a trusted proxy says', async () => {
    for (const trustProxy of [true, '203.0.113.0/24', '10.0.0.1,203.0.113.7'])
      assert.equal(await baseUrl({ trustProxy, headers: forwarded }), 'https://maps.example.org')
  })

  test('is never what anybody else says', async () => {
    for (const trustProxy of [false, '10.0.0.0/8']) {
      const said: Record<string, string>[] = [
        {},
        forwarded,
        { ...forwarded, 'x-forwarded-host': 'evil.example' },
        { 'x-forwarded-host': '' },
      ]
      for (const headers of said) {
        const found = await baseUrl({ trustProxy, headers })
        assert.ok(!/evil|maps/.test(found), found)
      }
    }
    assert.ok(!/evil/.test(await baseUrl({ trustProxy: true })))
  })

  test('may be this very machine', async () => {
    for (const host of ['localhost:8080', '127.0.0.1:1', 'localhost', '[::1]:80'])
      assert.equal(await baseUrl({ headers: { host } }), `http://${host}`)
    for (const host of [
      'localhost.evil.example',
      'localhost:1@evil.example',
      '127.0.0.1.evil.example',
      'localhost:1/x',
    ])
      assert.ok(!/evil|x/.test(await baseUrl({ headers: { host } })), host)
  })
})
