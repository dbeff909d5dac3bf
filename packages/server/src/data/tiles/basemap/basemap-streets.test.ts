import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { pmtilesOf, type TestTile } from '../../../../testing/tile-archives.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'

// One database is enough: street tiles are not in the database.

const scheme = { vector_layers: ['earth', 'roads', 'places'].map((id) => ({ id, fields: {} })) }
const tile = (z: number, x: number, y: number): TestTile => ({ z, x, y, bytes: gzipSync(`streets ${z}/${x}/${y}`) })
/** Bern at three zooms, and the tile of the whole world that such extracts hold. */
const region = pmtilesOf([tile(0, 0, 0), tile(7, 66, 45), tile(12, 2132, 1441)], {
  bounds: [7.3, 46.8, 7.6, 47.1],
  metadata: { ...scheme, name: 'Bern', attribution: '<a href="https://osm.org">OSM</a><script>x</script>' },
})
const planet = pmtilesOf([tile(0, 0, 0), tile(7, 66, 45)], { bounds: [-180, -85, 180, 85], metadata: scheme })
const other = pmtilesOf([tile(0, 0, 0)], { metadata: { vector_layers: [{ id: 'transportation', fields: {} }] } })
const files: Record<string, Buffer> = { '/region.pmtiles': region, '/planet.pmtiles': planet, '/other.pmtiles': other }

let server: Server
let address: string
let isDown = false
let log = ''
let maps: TileApp
before(async () => {
  server = createServer((request, response) => {
    const { [request.url ?? '']: bytes } = files
    if (isDown || !bytes) return void response.writeHead(isDown ? 500 : 404).end()
    const [, from = 0, to = 0] = (/^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []).map(Number)
    const part = bytes.subarray(from, to + 1)
    response.writeHead(206, { 'content-range': `bytes ${from}-${from + part.length - 1}/${bytes.length}` }).end(part)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  maps = await tileApp({ BASEMAP_URL: `${address}/region.pmtiles` }, (line) => {
    log += line
  })
})
after(async () => {
  await maps.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const chosen = async (basemap: string | null) => {
  const reply = await maps.app.call('PATCH', `/api/v1/applications/${maps.tenant.id}`, {
    key: maps.app.master,
    body: { basemap },
  })
  assert.equal(reply.status, 200, reply.text)
}
const own = () => `application=${maps.tenant.id}`

describe('streets of a region', () => {
  test('are described with their zooms, the whole world and both attributions, without markup', async () => {
    const { attribution, maxzoom, minzoom, bounds } = (await maps.get('/tiles/basemap/index.json', {}, null)).json()
    assert.deepEqual([minzoom, maxzoom], [0, 12])
    assert.deepEqual(bounds.map(Math.round), [-180, -85, 180, 85])
    assert.match(attribution, /^<a href="https:\/\/osm.org"[^>]*>OSM<\/a>.*Natural Earth/)
    assert.doesNotMatch(attribution, /<script/)
  })

  test('begin below the zooms of the bundled world', async () => {
    const low = await maps.get('/tiles/basemap/0/0/0.pbf', {}, null)
    assert.equal(low.statusCode, 200)
    assert.doesNotMatch(low.body, /streets/)
    for (const place of ['7/66/45', '12/2132/1441']) {
      const reply = await maps.get(`/tiles/basemap/${place}.pbf`, {}, null)
      assert.equal(reply.body, `streets ${place}`)
    }
  })

  test('leave what lies outside to the tile above: 404, which maps understand', async () => {
    for (const place of ['7/1/1', '8/133/90']) {
      const reply = await maps.get(`/tiles/basemap/${place}.pbf`, {}, null)
      assert.equal(reply.statusCode, 404, place)
    }
    assert.equal((await maps.get('/tiles/basemap/13/0/0.pbf', {}, null)).statusCode, 404)
  })
})

describe('streets of an application', () => {
  test('are shown to its maps only, whose styles name them', async () => {
    const basemap = { type: 'vector', url: '/tiles/basemap/index.json', attribution: 'Natural Earth' }
    const style = { version: 8, sources: { basemap }, layers: [] }
    const { body } = await maps.app.call('POST', '/api/v1/styles', {
      key: maps.tenant.developer,
      body: { name: 'Light', type: 'plain', style },
    })
    const source = async () => (await maps.get(`/maps/${body.id}.json`)).json().sources.basemap
    assert.match((await source()).url, /\/tiles\/basemap\/index\.json$/)
    await chosen(`${address}/planet.pmtiles`)
    const { url, attribution } = await source()
    assert.ok(url.endsWith(`/tiles/basemap/index.json?${own()}`), url)
    assert.equal(attribution, undefined)
    const { tiles, maxzoom } = (await maps.get(`/tiles/basemap/index.json?${own()}`, {}, null)).json()
    assert.equal(maxzoom, 7)
    assert.ok(tiles[0].includes(own()), tiles[0])
    assert.equal((await maps.get(`/tiles/basemap/0/0/0.pbf?${own()}`, {}, null)).body, 'streets 0/0/0')
    assert.doesNotMatch((await maps.get('/tiles/basemap/0/0/0.pbf', {}, null)).body, /streets/)
  })

  test('that have no tile at a low zoom leave it to the bundled world', async () => {
    await chosen(`${address}/planet.pmtiles`)
    const reply = await maps.get(`/tiles/basemap/1/0/0.pbf?${own()}`, {}, null)
    assert.equal(reply.statusCode, 200)
    assert.doesNotMatch(reply.body, /streets/)
  })

  for (const [what, name, why] of [
    ['of another scheme', 'other.pmtiles', /no layer .{2}earth/],
    ['that are not there', 'absent.pmtiles', /status 404/],
  ] as const) {
    test(`${what} are replaced by the bundled world, and the log says why`, async () => {
      log = ''
      await chosen(`${address}/${name}`)
      const reply = await maps.get(`/tiles/basemap/index.json?${own()}`, {}, null)
      assert.equal(reply.json().maxzoom, 6)
      assert.match(log, why)
      assert.match(log, /bundled world is shown/)
    })
  }

  test('must be a web address or an archive', async () => {
    for (const basemap of ['file:///etc/passwd', 'streets', `https://a.org/${'a'.repeat(2_000)}`]) {
      const reply = await maps.app.call('PATCH', `/api/v1/applications/${maps.tenant.id}`, {
        key: maps.app.master,
        body: { basemap },
      })
      assert.equal(reply.status, 400, basemap)
    }
  })
})

test('while the server of the streets fails, maps draw the bundled world, and the log says so once', async () => {
  await chosen(null)
  assert.equal((await maps.get('/tiles/basemap/index.json', {}, null)).json().maxzoom, 12)
  log = ''
  isDown = true
  try {
    for (const place of ['8/133/90', '9/266/180', '10/533/360', '11/1066/720']) {
      const reply = await maps.get(`/tiles/basemap/${place}.pbf?v=${place}`, {}, null)
      assert.equal(reply.statusCode, 404, place)
    }
    assert.equal((await maps.get('/tiles/basemap/6/33/22.pbf', {}, null)).statusCode, 200)
  } finally {
    isDown = false
  }
})
