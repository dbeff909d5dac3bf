import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { serve } from '../../../../testing/tile-archives.ts'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { openArchive } from './open-archive.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1')
const vector = Buffer.from([0x1a, 3, 1, 2, 3])
const egress = () => createEgress({ allow: '', mayReachLoopback: true })

test('the address is filled, from the north and from the south', async (t) => {
  const asked: string[] = []
  const { url, fetch } = await serve(t, egress(), (request, response) => {
    asked.push(request.url ?? '')
    response.end(png)
  })
  for (const path of ['/{z}/{x}/{y}.png', '/{z}/{x}/{-y}{ratio}.png?k={z}', '/{z}/{x}/{y}@2x.png']) {
    const archive = await openArchive(url + path, { files: createDirectoryStore('/nowhere'), fetch })
    assert.deepEqual(await archive.tile(3, 1, 2), { bytes: png, encoding: 'identity' })
    assert.partialDeepStrictEqual(await archive.info(), { kind: 'raster', format: 'png', minZoom: 0, maxZoom: 22 })
  }
  assert.deepEqual(asked, ['/3/1/2.png', '/3/1/5.png?k=3', '/3/1/2@2x.png'])
})

test('statuses become tiles, nothing or an error', async (t) => {
  const answers: Record<string, [number, Buffer | string]> = {
    '/1/0/0.pbf': [200, vector],
    '/1/0/1.pbf': [200, gzipSync(vector)],
    '/1/1/0.pbf': [204, ''],
    '/1/1/1.pbf': [200, ''],
    '/2/0/0.pbf': [404, 'none'],
    '/2/0/1.pbf': [500, 'oh'],
    '/2/0/2.pbf': [200, '<html>Please log in'],
    '/2/0/3.pbf': [403, 'no'],
    '/2/1/0.pbf': [200, Buffer.alloc(5 * 1024 * 1024 + 1, 0x1a)],
  }
  const { url, fetch } = await serve(t, egress(), (request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, '']
    response.writeHead(status).end(body)
  })
  const archive = await openArchive(`${url}/{z}/{x}/{y}.pbf`, { files: createDirectoryStore('/nowhere'), fetch })
  assert.deepEqual(await archive.tile(1, 0, 0), { bytes: vector, encoding: 'identity' })
  assert.deepEqual(await archive.tile(1, 0, 1), { bytes: gzipSync(vector), encoding: 'gzip' })
  for (const [z, x, y] of [
    [1, 1, 0],
    [1, 1, 1],
    [2, 0, 0],
  ] as const)
    assert.equal(await archive.tile(z, x, y), undefined)
  for (const [z, x, y] of [
    [2, 0, 1],
    [2, 0, 2],
    [2, 0, 3],
    [2, 1, 0],
  ] as const) {
    await assert.rejects(archive.tile(z, x, y), { code: 'upstream_failed' }, `${z}/${x}/${y}`)
  }
})

test('without an extension the first tile tells the format', async (t) => {
  const { url, fetch } = await serve(t, egress(), (request, response) => {
    if (request.url?.startsWith('/image')) response.end(png)
    else if (request.url?.startsWith('/vector')) response.end(gzipSync(vector))
    else response.writeHead(404).end()
  })
  const infoOf = async (name: string) =>
    (await openArchive(`${url}/${name}/{z}/{x}/{y}`, { files: createDirectoryStore('/nowhere'), fetch })).info()
  assert.equal((await infoOf('image')).format, 'png')
  assert.partialDeepStrictEqual(await infoOf('vector'), { kind: 'vector', format: 'pbf', vectorLayers: [] })
  await assert.rejects(infoOf('none'), { code: 'upstream_failed' })
})

test('what the guard refuses is not fetched', async (t) => {
  const guard = createEgress({ allow: '', mayReachLoopback: false })
  t.after(() => guard.close())
  const dependencies = { files: createDirectoryStore('/nowhere'), fetch: guard.fetch }
  const proxy = await openArchive('http://169.254.169.254/{z}/{x}/{y}.png', dependencies)
  await assert.rejects(proxy.tile(0, 0, 0), { code: 'invalid_request' })
  await assert.rejects(openArchive('pmtiles://http://127.0.0.1/a.pmtiles', dependencies), { code: 'invalid_request' })
})
