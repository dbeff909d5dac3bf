import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Compression, TileType } from 'pmtiles'
import {
  directoryBytes,
  headerBytes,
  noFetch,
  pmtilesOf,
  pyramid,
  serve,
  temporaryDirectory,
} from '../../../../testing/tile-archives.ts'
import { createEgress } from '../../../kernel/egress/guard.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { openArchive } from './open-archive.ts'

async function openBytes(t: TestContext, bytes: Buffer) {
  const directory = await temporaryDirectory(t)
  await writeFile(join(directory, 'a.pmtiles'), bytes)
  const archive = await openArchive('pmtiles://a.pmtiles', { files: createDirectoryStore(directory), fetch: noFetch })
  t.after(() => archive.close())
  return archive
}

const tiles = pyramid(5)
const bytesOf = (z: number, x: number, y: number) =>
  tiles.find((tile) => tile.z === z && tile.x === x && tile.y === y)?.bytes

for (const [name, leafSize, internal] of [
  ['root only', Number.POSITIVE_INFINITY, Compression.Gzip],
  ['leaves', 20, Compression.Gzip],
  ['leaves, not packed', 20, Compression.None],
  ['brotli', 50, Compression.Brotli],
  ['zstd', 50, Compression.Zstd],
] as const) {
  test(`every tile comes as it is stored (${name})`, async (t) => {
    const archive = await openBytes(t, pmtilesOf(tiles, { leafSize, internal }))
    for (const { z, x, y, bytes } of tiles) assert.deepEqual(await archive.tile(z, x, y), { bytes, encoding: 'gzip' })
    assert.equal(await archive.tile(5, 0, 0), undefined)
    assert.equal(await archive.tile(30, 0, 0), undefined)
    await assert.rejects(archive.tile(1, 2, 0), { code: 'invalid_request' })
  })
}

test('the description comes from header and metadata, and nonsense in it is left out', async (t) => {
  const metadata = {
    name: 'Towns',
    description: 5,
    attribution: '© <a href="https://example.com">us</a>',
    vector_layers: [
      { id: 'towns', fields: { name: 'String', bad: 3 }, minzoom: 0, maxzoom: 'x' },
      null,
      { fields: {} },
    ],
  }
  const archive = await openBytes(t, pmtilesOf(tiles, { metadata }))
  const { version, ...info } = await archive.info()
  assert.ok(version)
  assert.deepEqual(info, {
    kind: 'vector',
    format: 'pbf',
    minZoom: 0,
    maxZoom: 4,
    bounds: [-10, -20, 30, 40],
    center: [0, 0, 0],
    name: 'Towns',
    attribution: '© <a href="https://example.com">us</a>',
    vectorLayers: [{ id: 'towns', fields: { name: 'String', bad: '' }, minzoom: 0 }],
  })
  const raster = await openBytes(
    t,
    pmtilesOf(tiles, { type: TileType.Webp, compression: Compression.None, bounds: [5, 0, 5, 0] }),
  )
  assert.partialDeepStrictEqual(await raster.info(), { kind: 'raster', format: 'webp', vectorLayers: [] })
  assert.deepEqual((await raster.info()).bounds, [-180, -85.051129, 180, 85.051129])
  assert.equal((await raster.tile(0, 0, 0))?.encoding, 'identity')
})

const common = {
  internal: Compression.Gzip,
  compression: Compression.None,
  type: TileType.Mvt,
  bounds: [0, 0, 1, 1],
  zooms: [0],
}
const failure = { code: 'upstream_failed' }
const leaf = (offset: number, length: number) => directoryBytes([{ id: 0, offset, length, run: 0 }])
const tileEntry = (offset: number, length: number) => directoryBytes([{ id: 0, offset, length, run: 1 }])
const archiveOf = (
  root: Buffer,
  { metadata = Buffer.alloc(0), leaves = Buffer.alloc(0), data = Buffer.alloc(10) } = {},
) => {
  const sections = [root, metadata, leaves, data]
  return Buffer.concat([headerBytes({ ...common, sections }), ...sections])
}

test('what is no PMTiles of version 3 is refused when opened', async (t) => {
  const whole = pmtilesOf(tiles)
  const older = Buffer.from(whole)
  older[7] = 2
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(200), whole.subarray(0, 100), older]) {
    await assert.rejects(openBytes(t, bytes), failure)
  }
})

test('hostile directories end in an error', async (t) => {
  const circle = gzipSync(leaf(0, gzipSync(leaf(0, 40)).length))
  const hostile: Record<string, Buffer> = {
    'leaves in a circle': archiveOf(circle, { leaves: circle }),
    'a huge leaf': archiveOf(gzipSync(leaf(0, 2 ** 40))),
    'a huge tile': archiveOf(gzipSync(tileEntry(0, 2 ** 45))),
    'a tile outside': archiveOf(gzipSync(tileEntry(5, 100))),
    'a bomb': archiveOf(gzipSync(Buffer.alloc(200 * 1024 * 1024))),
    'many entries in few bytes': archiveOf(gzipSync(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1]))),
    'an endless number': archiveOf(gzipSync(Buffer.alloc(100, 0xff))),
    'no gzip': archiveOf(Buffer.from('hello')),
    'cut short': pmtilesOf(tiles).subarray(0, 200),
  }
  for (const [name, bytes] of Object.entries(hostile)) {
    const archive = await openBytes(t, bytes)
    const begun = Date.now()
    await assert.rejects(archive.tile(0, 0, 0), failure, name)
    assert.ok(Date.now() - begun < 60_000, name)
  }
})

test('a bomb for a description ends in an error', async (t) => {
  const metadata = gzipSync(Buffer.alloc(200 * 1024 * 1024))
  const archive = await openBytes(t, archiveOf(gzipSync(tileEntry(0, 5)), { metadata }))
  await assert.rejects(archive.info(), failure)
  assert.ok(await archive.tile(0, 0, 0))
})

test('files with bytes changed at random give tiles or errors, and always an end', async (t) => {
  const whole = pmtilesOf(tiles, { leafSize: 30 })
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const directory = await temporaryDirectory(t)
  for (let run = 0; run < 200; run++) {
    const bytes = Buffer.from(whole)
    for (let change = 0; change < 5; change++) bytes[random(run % 2 === 0 ? 400 : bytes.length)] = random(256)
    await writeFile(join(directory, 'a.pmtiles'), bytes)
    const archive = await openArchive('pmtiles://a.pmtiles', {
      files: createDirectoryStore(directory),
      fetch: noFetch,
    }).catch((error) => {
      assert.equal(error.code, 'upstream_failed')
    })
    for (const [z, x, y] of [
      [0, 0, 0],
      [3, 4, 5],
      [4, 15, 15],
    ] as const) {
      await archive?.tile(z, x, y).catch((error) => assert.equal(error.code, 'upstream_failed'))
    }
    await archive?.info().catch((error) => assert.equal(error.code, 'upstream_failed'))
    await archive?.close()
  }
})

/** A file on a server that knows ranges; it may be put in another's place. */
async function serveFile(t: TestContext, first: Buffer) {
  const file = { bytes: first, etag: '"1"', requests: 0 }
  const { url, fetch } = await serve(t, createEgress({ allow: '', mayReachLoopback: true }), (request, response) => {
    file.requests++
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const part = file.bytes.subarray(Number(from), Number(to) + 1)
    if (part.length === 0) return response.writeHead(416).end()
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${file.bytes.length}`
    response.writeHead(206, { 'content-range': range, etag: file.etag }).end(part)
  })
  return { file, uri: `pmtiles://${url}/a.pmtiles`, fetch }
}

test('a remote archive is read by ranges, its directories once', async (t) => {
  const { file, uri, fetch } = await serveFile(t, pmtilesOf(tiles, { leafSize: 50 }))
  const archive = await openArchive(uri, { files: createDirectoryStore('/nowhere'), fetch })
  const found = await Promise.all(tiles.map(({ z, x, y }) => archive.tile(z, x, y)))
  assert.deepEqual(
    found.map((tile) => tile?.bytes),
    tiles.map(({ bytes }) => bytes),
  )
  assert.ok(file.requests <= tiles.length + 10, `${file.requests} requests`)
  assert.equal((await archive.info()).maxZoom, 4)
})

test('a remote archive that has been replaced is read anew, its old directories forgotten', async (t) => {
  const { file, uri, fetch } = await serveFile(t, pmtilesOf(tiles, { leafSize: 50 }))
  const archive = await openArchive(uri, { files: createDirectoryStore('/nowhere'), fetch })
  assert.deepEqual((await archive.tile(4, 1, 1))?.bytes, bytesOf(4, 1, 1))
  const { version } = await archive.info()
  const others = pyramid(3, (z, x, y) => `another ${x} ${z} ${y}`)
  file.bytes = pmtilesOf(others)
  file.etag = '"2"'
  const found = await Promise.all(others.map(({ z, x, y }) => archive.tile(z, x, y)))
  assert.deepEqual(
    found.map((tile) => tile?.bytes),
    others.map(({ bytes }) => bytes),
  )
  assert.equal(await archive.tile(4, 1, 1), undefined)
  assert.notEqual((await archive.info()).version, version)
})

test('a remote archive that changes with every answer is an error', async (t) => {
  const { file, uri, fetch } = await serveFile(t, pmtilesOf(tiles, { leafSize: 50 }))
  const archive = await openArchive(uri, {
    files: createDirectoryStore('/nowhere'),
    fetch: (url, request) => {
      file.etag = `"${file.requests}"`
      return fetch(url, request)
    },
  })
  await assert.rejects(archive.tile(4, 1, 1), { code: 'upstream_failed', message: /changes while it is read/ })
})

test('a server without ranges, or with an error, is told of', async (t) => {
  const small = pmtilesOf(pyramid(1))
  const { url, fetch } = await serve(t, createEgress({ allow: '', mayReachLoopback: true }), (request, response) => {
    if (request.url === '/small') response.end(small)
    else if (request.url === '/large') response.end(Buffer.alloc(1_000_000))
    else if (request.url === '/other') response.writeHead(206, { 'content-range': 'bytes 5-9/10' }).end('abcde')
    else response.writeHead(404).end()
  })
  const open = (path: string) =>
    openArchive(`pmtiles://${url}${path}`, { files: createDirectoryStore('/nowhere'), fetch })
  await assert.rejects(open('/small'), { code: 'upstream_failed', message: /range requests/ })
  await assert.rejects(open('/large'), { code: 'upstream_failed', message: /range requests/ })
  await assert.rejects(open('/other'), { code: 'upstream_failed', message: /other bytes/ })
  await assert.rejects(open('/none'), { code: 'upstream_failed', message: /404/ })
})

test('whoever gives up on a remote tile hears its own reason', async (t) => {
  const { uri, fetch } = await serveFile(t, pmtilesOf(tiles))
  const archive = await openArchive(uri, { files: createDirectoryStore('/nowhere'), fetch })
  const reason = new Error('gone')
  await assert.rejects(archive.tile(0, 0, 0, AbortSignal.abort(reason)), reason)
})
