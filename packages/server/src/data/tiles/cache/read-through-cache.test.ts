import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { noQuery } from '../../../api/http/input/query-string.ts'
import type { TileRequest } from '../http/tile-request.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { createReadThroughCache, type ReadThroughOptions } from './read-through-cache.ts'
import { createTileCache } from './tile-cache.ts'

// One database is enough: none is asked.

const plain = Buffer.from('a tile '.repeat(200))

/** An archive of one tile, and how often it was read. */
function archiveOfOne() {
  let reads = 0
  const tile = async () => {
    reads++
    return { bytes: gzipSync(plain), encoding: 'gzip' }
  }
  const options = { cache: createTileCache(100_000), workers: { capacity: 4 }, archives: { of: () => ({ tile }) } }
  return { readThrough: createReadThroughCache(options as unknown as ReadThroughOptions), reads: () => reads }
}

const loaded = {
  source: { id: 's', applicationId: 'a', type: 'tilelive', source: 'pmtiles://a', extentLngLat: [-10, -10, 10, 10] },
  version: '1',
  archive: { kind: 'vector', format: 'pbf' },
} as unknown as LoadedTileSource

const asked = (z: number, accept: string): TileRequest => ({
  tile: { z, x: 0, y: 0 },
  extension: 'mvt',
  parameters: {},
  tree: noQuery,
  accept,
})
const { signal } = new AbortController()

test('a tile is read once, and answered from then on without a promise', async () => {
  const { readThrough, reads } = archiveOfOne()
  const get = (accept: string) => readThrough.get(loaded, asked(0, accept), () => signal)
  assert.ok(get('gzip') instanceof Promise)
  const { bytes } = await get('gzip')
  const again = get('gzip')
  assert.ok(!(again instanceof Promise) && again.bytes === bytes && again.compression === 'gzip')
  assert.equal(reads(), 1)
})

test('a form that is missing is made once, of the form that is there', async () => {
  const { readThrough, reads } = archiveOfOne()
  const get = (accept: string) => readThrough.get(loaded, asked(0, accept), () => signal)
  await get('gzip')
  assert.deepEqual(Buffer.from((await get('identity')).bytes), plain)
  assert.ok(!(get('identity') instanceof Promise))
  assert.equal(reads(), 1)
})

test('an application that waits for half of the tiles that the threads take is told its limit, and another is not', async () => {
  const never = new Promise<never>(() => {})
  const options = {
    cache: createTileCache(0),
    workers: { capacity: 2 },
    archives: { of: () => ({ tile: () => never }) },
  }
  const readThrough = createReadThroughCache(options as unknown as ReadThroughOptions)
  const get = (z: number, source = loaded) =>
    readThrough.get(source, asked(z, 'gzip'), () => signal) as Promise<unknown>
  get(0).catch(() => undefined)
  await assert.rejects(get(1), { code: 'unavailable', extensions: { limit: 1, limitName: 'tilesAtOnce' } })
  const other = { ...loaded, source: { ...loaded.source, id: 't', applicationId: 'b' } }
  const waits = await Promise.race([get(0, other), new Promise((resolve) => setImmediate(resolve, 'it waits'))])
  assert.equal(waits, 'it waits')
})

test('tiles of a thousand callers with rows of their own push out none of those that all see', async () => {
  const { readThrough, reads } = archiveOfOne()
  const get = (one: LoadedTileSource) => readThrough.get(one, asked(0, 'gzip'), () => signal)
  await get(loaded)
  for (let n = 0; n < 1_000; n++) await get({ ...loaded, version: `of ${n}`, isNarrowed: true })
  assert.equal(reads(), 1_001)
  await get(loaded)
  assert.equal(reads(), 1_001)
})

test('a tile outside of the extent is empty, and nothing is read for it', async () => {
  const { readThrough, reads } = archiveOfOne()
  const empty = readThrough.get(loaded, asked(5, 'gzip'), () => signal)
  assert.ok(!(empty instanceof Promise) && empty.bytes.byteLength === 0)
  assert.equal(reads(), 0)
})
