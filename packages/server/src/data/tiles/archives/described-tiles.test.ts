import assert from 'node:assert/strict'
import test from 'node:test'
import { pmtilesOf, pyramid, serve } from '../../../../testing/tile-archives.ts'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { openArchive } from './open-archive.ts'

const vector = Buffer.from([0x1a, 3, 1, 2, 3])
const tileJson = {
  tilejson: '3.0.0',
  tiles: ['../data/{z}/{x}/{y}.mvt?key=a'],
  minzoom: 1,
  maxzoom: 15,
  bounds: [7, 46, 8, 47],
  attribution: 'OpenStreetMap',
  vector_layers: [{ id: 'earth', fields: {} }],
}
const archive = pmtilesOf(pyramid(2))

test('tiles are found by their TileJSON, and by a style that names them', async (t) => {
  const documents: Record<string, object> = {
    '/maps/tiles.json': tileJson,
    '/styles/light.json?key=a': {
      version: 8,
      sources: { relief: { type: 'raster' }, streets: { type: 'vector', url: '/maps/tiles.json' } },
    },
    '/styles/inline.json': {
      version: 8,
      sources: { streets: { type: 'vector', ...tileJson, tiles: ['/data/{z}/{x}/{y}.mvt?key=a'] } },
    },
  }
  const asked: string[] = []
  const { url, fetch } = await serve(
    t,
    createEgress({ allow: '', mayReachLoopback: true }),
    ({ url: path = '' }, response) => {
      asked.push(path)
      const { [path]: document } = documents
      response.end(document ? JSON.stringify(document) : vector)
    },
  )
  for (const path of Object.keys(documents)) {
    const described = await openArchive(url + path, { files: createDirectoryStore('/nowhere'), fetch })
    const { minZoom, maxZoom, bounds, attribution, vectorLayers } = await described.info()
    assert.deepEqual([minZoom, maxZoom, bounds, attribution], [1, 15, [7, 46, 8, 47], 'OpenStreetMap'], path)
    assert.deepEqual(
      vectorLayers.map(({ id }) => id),
      ['earth'],
    )
    assert.deepEqual(await described.tile(3, 1, 2), { bytes: vector, encoding: 'identity' })
    assert.equal(asked.at(-1), '/data/3/1/2.mvt?key=a')
  }
})

test('a style may name an archive in the web, and nothing else but tiles', async (t) => {
  let source: object = {}
  const { url, fetch } = await serve(
    t,
    createEgress({ allow: '', mayReachLoopback: true }),
    ({ url: path, headers }, response) => {
      if (path === '/style.json')
        return response.end(JSON.stringify({ version: 8, sources: { streets: { type: 'vector', ...source } } }))
      const [, from = 0, to = 0] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []).map(Number)
      const part = archive.subarray(from, to + 1)
      response
        .writeHead(206, { 'content-range': `bytes ${from}-${from + part.length - 1}/${archive.length}` })
        .end(part)
    },
  )
  const open = () => openArchive(`${url}/style.json`, { files: createDirectoryStore('/nowhere'), fetch })
  source = { url: `pmtiles://${url}/a.pmtiles` }
  assert.equal((await (await open()).info()).maxZoom, 1)
  for (const wrong of [{}, { tiles: [] }, { url: '/style.json' }]) {
    source = wrong
    await assert.rejects(open(), { code: 'upstream_failed' }, JSON.stringify(wrong))
  }
  for (const [wrong, why] of [
    [{ url: 'pmtiles://secret.pmtiles' }, /no tiles on the web/],
    [{ tiles: ['file:///etc/passwd'] }, /must begin with/],
    [{ tiles: ['/other.json'] }, /no tiles on the web/],
  ] as const) {
    source = wrong
    await assert.rejects(open(), why, JSON.stringify(wrong))
  }
})
