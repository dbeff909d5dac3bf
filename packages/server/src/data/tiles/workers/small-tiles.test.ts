import assert from 'node:assert/strict'
import { get as httpGet } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'
import type { RowSink } from '../../../kernel/db/postgres/raw-connection.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { readPlatformServer } from '../../../kernel/libpq/platform-server.ts'
import type { RawPools } from './raw-pools.ts'
import { createSmallTiles } from './small-tiles.ts'
import type { MadeTile, TileJob } from './tile-job.ts'

const noLanes = { send: () => false }
const never = new AbortController().signal
const small = { rowBytes: 100, pairs: 0, databaseMs: 1 } as MadeTile

/** The point (0 0) as WKB. */
const point = Buffer.alloc(21)
point.set([1, 1])

/** A polygon whose corners are anywhere in the tile, as WKB. */
function tangle(corners: number): Buffer {
  const wkb = Buffer.alloc(13 + 16 * corners)
  wkb.writeUInt8(1)
  wkb.writeUInt32LE(3, 1)
  wkb.writeUInt32LE(1, 5)
  wkb.writeUInt32LE(corners, 9)
  for (let corner = 0; corner < corners; corner++) {
    const step = corner % (corners - 1)
    wkb.writeDoubleLE((((step * 7919) % 997) / 997) * 0.08, 13 + 16 * corner)
    wkb.writeDoubleLE((((step * 104729) % 991) / 991) * -0.08, 21 + 16 * corner)
  }
  return wkb
}

/** Connections that answer each query with so many rows of one geometry and a text. */
function tilesOf(rows: () => number, textBytes = 10, shape: Buffer = point) {
  let asked = 0
  let taken = 0
  const settings = new Set<string>()
  const row = Buffer.concat([shape, Buffer.alloc(textBytes, 'a')])
  const at = Int32Array.of(0, shape.length, shape.length, row.length)
  const pools: RawPools = {
    async run(query, _signal, onRow: RowSink) {
      asked++
      settings.add(query.settings)
      for (let left = rows(); left > 0; left--, taken++) onRow(row, at)
      return 1
    },
    close() {},
  }
  return { tiles: createSmallTiles(1, noLanes, pools), asked: () => asked, taken: () => taken, settings }
}

function jobOf(x: number, y: number, more: Partial<TileJob> = {}): TileJob {
  const columns = [
    { name: 'geom', kind: 'geometry' },
    { name: 'text', kind: 'text' },
  ] as const
  const statement = { text: '', values: [], binary: [true, false], isUntrusted: false }
  return {
    rows: { server: { platform: readPlatformServer('postgres://own') }, settings: '', statement },
    encoder: { tile: { z: 12, x, y }, columns, projection: 'lonlat' },
    compression: 'identity',
    asGeoJson: false,
    ...more,
  }
}

describe('the main thread', () => {
  test('makes a tile only where a tile of the same series was small', async () => {
    const { tiles, asked } = tilesOf(() => 3)
    assert.equal(await tiles.make(jobOf(2048, 2048), 'a', never), undefined)
    tiles.note(jobOf(2048, 2048), 'a', small)
    const made = await tiles.make(jobOf(2049, 2051), 'a', never)
    assert.deepEqual([made?.seen, made?.rowBytes], [3, 3 * (point.length + 10)])
    assert.equal(await tiles.make(jobOf(2049, 2051), 'b', never), undefined, 'another filter may find more rows')
    assert.equal(await tiles.make(jobOf(2053, 2051), 'a', never), undefined, 'another place may have more rows')
    assert.equal(asked(), 1)
    assert.equal(tiles.pending, 0)
  })

  test('gives up a tile that turns out large, and leaves those around it to the threads', async () => {
    let rows = 1
    const { tiles, asked } = tilesOf(() => rows, 1_000)
    tiles.note(jobOf(0, 0), 'a', small)
    assert.ok(await tiles.make(jobOf(0, 0), 'a', never))
    rows = 1_000
    assert.equal(await tiles.make(jobOf(0, 0), 'a', never), undefined)
    tiles.note(jobOf(1, 1), 'a', small)
    assert.equal(await tiles.make(jobOf(1, 1), 'a', never), undefined)
    assert.equal(asked(), 2)
  })

  test('leaves tiles to the threads when many wait for it', async () => {
    const { promise: database, resolve: answer } = Promise.withResolvers<number>()
    const tiles = createSmallTiles(1, noLanes, { run: () => database, close() {} })
    tiles.note(jobOf(0, 0), 'a', small)
    const waiting = Array.from({ length: 256 }, () => tiles.make(jobOf(0, 0), 'a', never))
    assert.equal(tiles.pending, 256)
    assert.equal(await tiles.make(jobOf(0, 0), 'a', never), undefined)
    answer(1)
    assert.ok((await Promise.all(waiting)).every((made) => made !== undefined))
  })

  for (const [what, corners, rows] of [
    ['one polygon that crosses itself very often', 4_000, 1],
    ['many polygons that cross themselves', 64, 50],
  ] as const)
    test(`is not held by ${what}`, async () => {
      const { tiles, asked, taken } = tilesOf(() => rows, 0, tangle(corners))
      tiles.note(jobOf(2048, 2048), 'a', small)
      assert.equal(await tiles.make(jobOf(2048, 2048), 'a', never), undefined)
      assert.equal(asked(), 1)
      assert.ok(taken() * corners ** 2 < 40_000, `${taken()} were made valid`)
    })

  test('has its queries planned once, and not for each tile', async () => {
    const { tiles, settings } = tilesOf(() => 3)
    tiles.note(jobOf(0, 0), 'a', small)
    await tiles.make(jobOf(0, 0), 'a', never)
    assert.match([...settings].join(), /plan_cache_mode = force_generic_plan/)
  })

  for (const [what, made] of [
    ['large', { rowBytes: 100_000, pairs: 0, databaseMs: 1 }],
    ['slow', { rowBytes: 100, pairs: 0, databaseMs: 2_000 }],
    ['intricate', { rowBytes: 100, pairs: 1_000_000, databaseMs: 1 }],
  ] as const)
    test(`makes no tile where one was ${what}`, async () => {
      const { tiles } = tilesOf(() => 3)
      tiles.note(jobOf(0, 0), 'a', made as MadeTile)
      tiles.note(jobOf(0, 1), 'a', small)
      assert.equal(await tiles.make(jobOf(0, 0), 'a', never), undefined)
    })

  test('neither speaks to foreign servers, nor projects rows, nor writes GeoJSON', async () => {
    const { tiles, asked } = tilesOf(() => 3)
    const own = jobOf(0, 0)
    tiles.note(own, 'a', small)
    const foreign = { host: 'elsewhere', port: 1, user: '', password: '', database: '', owner: '', definition: '' }
    for (const job of [
      { ...own, rows: { ...own.rows, server: foreign } } as TileJob,
      { ...own, definitions: { 4326: '+proj=longlat' } },
      { ...own, asGeoJson: true },
      { ...own, rows: { cells: [], geometry: 'ewkb' } } as TileJob,
    ])
      assert.equal(await tiles.make(job, 'a', never), undefined)
    assert.equal(asked(), 0)
  })
})

const skip = process.env.TEST_DATABASE_URL === undefined ? 'the embedded database is not asked by a connection' : false

describe('small tiles of a table', { skip }, () => {
  let maps: TileApp
  let id: string
  before(async () => {
    maps = await tileApp({ TILE_CACHE_MB: '0' })
    await maps.script(`
      CREATE TABLE places (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
      INSERT INTO places SELECT n, 'place ' || n, ST_Point(6 + n / 1000.0, 50, 4326) FROM generate_series(1, 60) n;
      CREATE TABLE pace (seconds float8);
      INSERT INTO pace VALUES (0);
      CREATE FUNCTION slowly() RETURNS text LANGUAGE sql VOLATILE SECURITY DEFINER
        AS 'SELECT pg_sleep(seconds)::text FROM ${maps.schema}.pace';
      CREATE VIEW slow AS SELECT id, geom, slowly() AS slept FROM places WHERE id = 1`)
    id = await maps.dataset({ source: 'places' })
  })
  after(() => maps?.close())

  async function tileConnections(state: string): Promise<number> {
    const [row] = await maps.app.admin.query<{ n: number }>(sql`
      SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'graticule tiles' AND state = ${state}`)
    return row?.n ?? 0
  }

  test('are the same from the main thread as from a tile thread, compressed or not', async () => {
    for (const accept of ['identity', 'gzip', 'br', 'zstd']) {
      const ask = () => maps.get(`/tiles/${id}/6/33/21.mvt?v=${accept}&attributes=name`, { 'accept-encoding': accept })
      const [inThread, here, again] = [await ask(), await ask(), await ask()]
      assert.equal(inThread.statusCode, 200)
      assert.equal(inThread.headers['x-tile-features'], '60/60')
      for (const one of [here, again]) {
        assert.deepEqual(one.rawPayload, inThread.rawPayload)
        assert.equal(one.headers.etag, inThread.headers.etag)
      }
    }
    assert.equal(await tileConnections('idle'), 2, 'one of a thread, one of the main thread')
  })

  test('end their query when the client leaves', async () => {
    const slow = await maps.dataset({ source: 'slow' })
    const path = `/tiles/${slow}/6/33/21.mvt`
    for (let times = 0; times < 2; times++) assert.equal((await maps.get(path)).statusCode, 200)
    await maps.script('UPDATE pace SET seconds = 60')
    await maps.app.http.listen({ port: 0, host: '127.0.0.1' })
    const { port } = maps.app.http.server.address() as AddressInfo
    const request = httpGet({ port, host: '127.0.0.1', path, headers: { 'x-api-key': maps.tenant.developer } })
    request.on('error', () => {})
    await until(async () => (await tileConnections('active')) === 1)
    request.destroy()
    await until(async () => (await tileConnections('active')) === 0, 15_000)
  })
})
