import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { TileType } from 'pmtiles'
import { pmtilesOf, pyramid, writeMbtiles } from '../../../testing/tile-archives.ts'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'

// One database is enough: tiles of an archive are not in the database.

let maps: TileApp
let server: Server
let address: string
let asked = 0
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

before(async () => {
  maps = await tileApp()
  const files = join(maps.directory, 'files', maps.tenant.id)
  await mkdir(files, { recursive: true })
  const layers = {
    vector_layers: [{ id: 'roads', fields: { name: 'String' } }],
    attribution: '<a href="https://a.org">A</a>',
  }
  const bounds = [-180, -85, 180, 85]
  await writeFile(join(files, 'world.pmtiles'), pmtilesOf(pyramid(3), { metadata: layers, bounds }))
  const images = pyramid(2)
    .map((tile) => ({ ...tile, bytes: png }))
    .filter(({ z, x }) => z === 0 || x === 0)
  await writeFile(join(files, 'images.pmtiles'), pmtilesOf(images, { type: TileType.Png, compression: 1, bounds }))
  writeMbtiles(join(files, 'world.mbtiles'), pyramid(2), {
    metadata: {
      format: 'pbf',
      name: 'World',
      minzoom: '0',
      maxzoom: '1',
      bounds: '-180,-85,180,85',
      json: JSON.stringify(layers),
      attribution: layers.attribution,
    },
  })
  server = createServer((request, response) => {
    asked++
    if (request.url?.startsWith('/1/1/')) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'image/png' }).end(png)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  await maps.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const tilelive = (source: string, rest: object = {}) => maps.tileSource({ type: 'tilelive', source, ...rest })
const post = (source: string, key = maps.tenant.developer) =>
  maps.app.call('POST', '/api/v1/tilesources', { key, body: { type: 'tilelive', source } })

describe('a tile source of an archive', () => {
  for (const [source, zooms] of [
    ['pmtiles://world.pmtiles', 2],
    ['mbtiles://world.mbtiles', 1],
  ] as const) {
    test(`${source} is found out, and serves its tiles as they are stored`, async () => {
      const { body } = await post(source)
      assert.equal(body.maxZoom, zooms)
      assert.deepEqual(body.extentLngLat, [-180, -85, 180, 85])
      assert.match(body.attribution, /^<a href="https:\/\/a.org"/)
      const reply = await maps.get(`/tiles/${body.id}/1/1/0.pbf`, { 'accept-encoding': 'gzip' })
      assert.equal(reply.statusCode, 200, reply.body)
      assert.equal(reply.headers['content-encoding'], 'gzip')
      assert.equal(reply.headers['content-type'], 'application/vnd.mapbox-vector-tile')
      assert.equal(gunzipSync(reply.rawPayload).toString(), 'tile 1/1/0')
      const plain = await maps.get(`/tiles/${body.id}/1/1/0.mvt`, { 'accept-encoding': 'identity' })
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.equal(plain.body, 'tile 1/1/0')
      const described = (await maps.get(`/tiles/${body.id}/index.json`)).json()
      assert.equal(described.vector_layers[0].id, 'roads')
      assert.match(described.tiles[0], /\.pbf\?tile-version=/)
    })
  }

  test('gives no image where there is none (404), so that maps enlarge the one above', async () => {
    const id = await tilelive('pmtiles://images.pmtiles')
    const there = await maps.get(`/tiles/${id}/1/0/0.png`, { 'accept-encoding': 'gzip, br' })
    assert.equal(there.statusCode, 200)
    assert.equal(there.headers['content-type'], 'image/png')
    assert.equal(there.headers['content-encoding'], undefined)
    assert.deepEqual(there.rawPayload, png)
    assert.equal((await maps.get(`/tiles/${id}/1/1/0.png`)).statusCode, 404)
    for (const extension of ['mvt', 'geojson', 'jpg', 'webp'])
      assert.equal((await maps.get(`/tiles/${id}/1/0/0.${extension}`)).statusCode, 404, extension)
  })

  test('takes no filter: a dropped one would show more than was asked for', async () => {
    const id = await tilelive('pmtiles://world.pmtiles')
    for (const query of ['filter[a]=1', 'attributes=a', 'limit=3'])
      assert.equal((await maps.get(`/tiles/${id}/0/0/0.mvt?${query}`)).statusCode, 400, query)
  })

  test('is explained without a database', async () => {
    const id = await tilelive('pmtiles://world.pmtiles')
    const { source, tile } = (await maps.get(`/tiles/${id}/0/0/0.mvt?explain=true`)).json()
    assert.equal(source, 'tilelive')
    assert.deepEqual(tile, { z: 0, x: 0, y: 0 })
  })

  test('is refused when it is not there, is broken or lies elsewhere', async () => {
    await writeFile(join(maps.directory, 'files', maps.tenant.id, 'broken.pmtiles'), 'no archive at all')
    await writeFile(join(maps.directory, 'secret.pmtiles'), pmtilesOf(pyramid(1)))
    for (const source of [
      'pmtiles://absent.pmtiles',
      'pmtiles://broken.pmtiles',
      'pmtiles://../../secret.pmtiles',
      'pmtiles://%2e%2e/%2e%2e/secret.pmtiles',
      `pmtiles://${maps.directory}/secret.pmtiles`,
      'file:///etc/passwd',
      'ftp://a.org/{z}/{x}/{y}.png',
      'nonsense',
    ]) {
      const { status, text } = await post(source)
      assert.ok(status === 400 || status === 404 || status === 502, `${source}: ${status}`)
      assert.ok(!text.includes(maps.directory) || source.includes(maps.directory), source)
    }
  })

  test("never reads another tenant's file", async () => {
    const stranger = await maps.app.tenant('stranger')
    const { status } = await post('pmtiles://world.pmtiles', stranger.developer)
    assert.ok(status === 400 || status === 404, String(status))
  })
})

describe('a tile source of another server', () => {
  test('is made without asking that server', async () => {
    asked = 0
    const { status, body } = await post(`${address}/{z}/{x}/{y}.png`)
    assert.equal(status, 201)
    assert.equal(body.minZoom, 0)
    assert.equal(asked, 0)
  })

  test('passes its tiles on, once for all who ask, and its gaps', async () => {
    const id = await tilelive(`${address}/{z}/{x}/{y}.png`)
    asked = 0
    const replies = await Promise.all(Array.from({ length: 20 }, () => maps.get(`/tiles/${id}/0/0/0.png`)))
    assert.ok(replies.every(({ statusCode, rawPayload }) => statusCode === 200 && rawPayload.equals(png)))
    assert.equal(asked, 1)
    assert.equal((await maps.get(`/tiles/${id}/1/1/0.png`)).statusCode, 404)
  })

  test('that is gone is 502, and says nothing of the address', async () => {
    const id = await tilelive('http://127.0.0.1:9/{z}/{x}/{y}.png')
    const reply = await maps.get(`/tiles/${id}/0/0/0.png`)
    assert.equal(reply.statusCode, 502)
    assert.ok(!reply.body.includes('127.0.0.1'))
  })

  test('is compressed for the client, not for the file', async () => {
    const long = 'tile '.repeat(1000)
    const files = join(maps.directory, 'files', maps.tenant.id)
    await writeFile(
      join(files, 'long.pmtiles'),
      pmtilesOf([{ z: 0, x: 0, y: 0, bytes: gzipSync(long) }], { bounds: [-180, -85, 180, 85] }),
    )
    const id = await tilelive('pmtiles://long.pmtiles')
    const tags = new Set<unknown>()
    for (const encoding of ['gzip', 'br', 'zstd', 'identity']) {
      const reply = await maps.get(`/tiles/${id}/0/0/0.mvt`, { 'accept-encoding': encoding })
      assert.equal(reply.headers['content-encoding'] ?? 'identity', encoding)
      tags.add(reply.headers.etag)
    }
    assert.equal(tags.size, 4)
  })
})
