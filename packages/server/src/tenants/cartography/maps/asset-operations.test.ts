import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Authority } from '../../../api/access/authenticate.ts'
import { createServer } from '../../../api/http/server.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { assetOperations } from './asset-operations.ts'
import { createFonts } from './fonts.ts'
import { createSprites } from './sprites.ts'

const assets = fileURLToPath(new URL('../../../../../assets', import.meta.url))
let app: FastifyInstance
before(async () => {
  const services = {
    fonts: await createFonts([createDirectoryStore(assets)], (error) => assert.fail(String(error))),
    sprites: await createSprites(`${assets}/sprites`),
  }
  const options = { logger: pino({ level: 'silent' }), trustProxy: false, bodyLimit: 1, isStopping: () => false }
  app = await createServer(assetOperations, {} as Authority, services, options)
})
after(() => app.close())

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url, headers })
const glyphs = '/fonts/Noto%20Sans%20Regular/0-255.pbf'

test('the list of fonts needs no key', async () => {
  const reply = await get('/fonts.json')
  assert.equal(reply.statusCode, 200)
  assert.deepEqual(reply.json(), ['Noto Sans Bold', 'Noto Sans Italic', 'Noto Sans Medium', 'Noto Sans Regular'])
  assert.equal(reply.headers['access-control-allow-origin'], '*')
})

test('glyphs go out packed to clients that can unpack them, and plain to others', async () => {
  const packed = await get(glyphs, { 'accept-encoding': 'br, gzip;q=0.5' })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.equal(packed.headers['content-type'], 'application/x-protobuf')
  assert.match(String(packed.headers.vary), /accept-encoding/)
  for (const encoding of ['identity', 'gzip;q=0', 'br', '*;q=0']) {
    const plain = await get(glyphs, { 'accept-encoding': encoding })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.deepEqual(plain.rawPayload, gunzipSync(packed.rawPayload))
    assert.notEqual(plain.headers.etag, packed.headers.etag)
  }
})

test('what a client holds already is not sent again', async () => {
  for (const url of [glyphs, '/fonts.json', '/sprites/light@2x.png']) {
    const first = await get(url)
    assert.match(String(first.headers['cache-control']), /^public, max-age=\d+$/)
    const again = await get(url, { 'if-none-match': String(first.headers.etag) })
    assert.equal(again.statusCode, 304)
    assert.equal(again.rawPayload.length, 0)
    assert.equal(again.headers.etag, first.headers.etag)
  }
})

test('HEAD of a font or sprite has the headers of GET, without the body', async () => {
  for (const url of [glyphs, '/sprites/dark.json']) {
    const [head, full] = [await get(url, {}, 'HEAD'), await get(url)]
    assert.equal(head.statusCode, 200)
    assert.equal(head.rawPayload.length, 0)
    assert.equal(head.headers['content-length'], full.headers['content-length'])
    assert.equal(head.headers.etag, full.headers.etag)
  }
})

test('sprites come with the type of their content', async () => {
  const types = { 'light.json': 'application/json; charset=utf-8', 'dark@2x.png': 'image/png' }
  for (const [name, type] of Object.entries(types)) {
    const reply = await get(`/sprites/${name}`)
    assert.equal(reply.statusCode, 200)
    assert.equal(reply.headers['content-type'], type)
  }
})

test('what is not installed is 404, whatever the address tries', async () => {
  const addresses = [
    '/fonts/Comic%20Sans/0-255.pbf',
    '/fonts/..%2F..%2Fassets/0-255.pbf',
    '/fonts/../../package.json',
    '/fonts/Noto%20Sans%20Regular/0-256.pbf',
    '/fonts/Noto%20Sans%20Regular/0-255.pbf.gz',
    '/fonts/Noto%20Sans%20Regular/65536-65791.pbf',
    '/fonts/Noto%20Sans%20Regular/..%2F0-255.pbf',
    '/fonts/__proto__/0-255.pbf',
    `/fonts/${'a,'.repeat(2000)}/0-255.pbf`,
    '/sprites/..%2Fpackage.json',
    '/sprites/constructor',
    '/sprites/light',
  ]
  for (const url of addresses) assert.equal((await get(url)).statusCode, 404, url)
})
