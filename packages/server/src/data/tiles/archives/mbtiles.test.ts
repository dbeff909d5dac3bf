import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { deflateSync, gunzipSync } from 'node:zlib'
import { Compression, TileType } from 'pmtiles'
import {
  noFetch,
  pmtilesOf,
  pyramid,
  type TestTile,
  temporaryDirectory,
  writeMbtiles,
} from '../../../../testing/tile-archives.ts'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { openMbtiles } from './mbtiles.ts'
import { createMbtilesProcess } from './mbtiles-process.ts'
import { openArchive } from './open-archive.ts'

const run = promisify(execFile)
const tiles = pyramid(4)

async function openFile(t: TestContext, directory: string, name: string) {
  const archive = await openArchive(`mbtiles://${name}`, { files: createDirectoryStore(directory), fetch: noFetch })
  t.after(() => archive.close())
  return archive
}

/** Long enough for a good archive on a busy machine. */
const impatientMs = 4_000

/** With little patience. */
async function openImpatiently(t: TestContext, directory: string, names: string[]) {
  const process = createMbtilesProcess({
    patience: { start: 60_000, tile: impatientMs, summary: impatientMs, close: impatientMs, idle: 60_000 },
  })
  t.after(() => process.close())
  return await Promise.all(
    names.map((name) => openMbtiles(createDirectoryStore(directory), name, { process, ownsProcess: false })),
  )
}

function tilesOf(path: string): TestTile[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('SELECT zoom_level z, tile_column x, tile_row r, tile_data FROM tiles').all()
  database.close()
  return rows.map((row) => {
    const z = Number(row.z)
    const y = 2 ** z - 1 - Number(row.r)
    return { z, x: Number(row.x), y, bytes: Buffer.from(row.tile_data as Uint8Array) }
  })
}

test('every tile comes as it is stored, rows counted from the north', async (t) => {
  const directory = await temporaryDirectory(t)
  writeMbtiles(join(directory, 'a.mbtiles'), tiles)
  const archive = await openFile(t, directory, 'a.mbtiles')
  const found = await Promise.all(tiles.map(({ z, x, y }) => archive.tile(z, x, y)))
  assert.deepEqual(
    found,
    tiles.map(({ bytes }) => ({ bytes, encoding: 'gzip' })),
  )
  assert.equal(await archive.tile(9, 0, 0), undefined)
})

test('what the metadata do not say is found in the tiles', async (t) => {
  const directory = await temporaryDirectory(t)
  const some = [
    { z: 3, x: 4, y: 3, bytes: Buffer.from('\x89PNG....', 'latin1') },
    { z: 2, x: 2, y: 1, bytes: Buffer.from('\x89PNG....', 'latin1') },
  ]
  for (const hasIndex of [true, false]) {
    const name = `${hasIndex}.mbtiles`
    writeMbtiles(join(directory, name), some, { hasIndex })
    const { version, bounds, ...info } = await (await openFile(t, directory, name)).info()
    assert.deepEqual(info, { kind: 'raster', format: 'png', minZoom: 2, maxZoom: 3, vectorLayers: [] })
    assert.deepEqual(
      bounds.map((degrees) => Math.round(degrees * 1000) / 1000),
      [0, 0, 45, 40.98],
    )
  }
})

test('the metadata are taken where they make sense', async (t) => {
  const directory = await temporaryDirectory(t)
  const json = JSON.stringify({ vector_layers: [{ id: 'a', fields: { n: 'Number' } }] })
  const metadata = { name: 'A', format: 'pbf', minzoom: '1', maxzoom: '2', bounds: '1,2,3,4', center: '1,2,1', json }
  writeMbtiles(join(directory, 'a.mbtiles'), tiles, { metadata })
  writeMbtiles(join(directory, 'b.mbtiles'), tiles, {
    metadata: { format: 'pbf', minzoom: '-1', maxzoom: 'many', bounds: '9,9,1,1', center: 'here', json: '{' },
  })
  const { version, ...info } = await (await openFile(t, directory, 'a.mbtiles')).info()
  assert.deepEqual(info, {
    kind: 'vector',
    format: 'pbf',
    minZoom: 1,
    maxZoom: 2,
    bounds: [1, 2, 3, 4],
    center: [1, 2, 1],
    name: 'A',
    vectorLayers: [{ id: 'a', fields: { n: 'Number' } }],
  })
  const { version: other, bounds, ...rest } = await (await openFile(t, directory, 'b.mbtiles')).info()
  assert.deepEqual(rest, {
    kind: 'vector',
    format: 'pbf',
    minZoom: 0,
    maxZoom: 3,
    vectorLayers: [],
  })
  assert.deepEqual(bounds.map(Math.round), [-180, -85, 180, 85])
})

test('the compression is known by the bytes, and zlib alone is unpacked', async (t) => {
  const directory = await temporaryDirectory(t)
  const plain = Buffer.from([0x1a, 5, 1, 2, 3, 4, 5])
  writeMbtiles(join(directory, 'a.mbtiles'), [
    { z: 1, x: 0, y: 0, bytes: plain },
    { z: 1, x: 0, y: 1, bytes: deflateSync(plain) },
    { z: 1, x: 1, y: 0, bytes: Buffer.alloc(0) },
    { z: 1, x: 1, y: 1, bytes: deflateSync(Buffer.alloc(50_000_000)) },
  ])
  const archive = await openFile(t, directory, 'a.mbtiles')
  assert.deepEqual(await archive.tile(1, 0, 0), { bytes: plain, encoding: 'identity' })
  assert.deepEqual(await archive.tile(1, 0, 1), { bytes: plain, encoding: 'identity' })
  assert.equal(await archive.tile(1, 1, 0), undefined)
  await assert.rejects(archive.tile(1, 1, 1), { code: 'upstream_failed' })
})

test('tiles may be a view of maps and images', async (t) => {
  const directory = await temporaryDirectory(t)
  const database = new DatabaseSync(join(directory, 'a.mbtiles'))
  database.exec(`
    CREATE TABLE metadata (name text, value text);
    CREATE TABLE map (zoom_level integer, tile_column integer, tile_row integer, tile_id text);
    CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
    CREATE TABLE images (tile_id text PRIMARY KEY, tile_data blob);
    CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id;
    INSERT INTO images VALUES ('a', x'1a00');
    INSERT INTO map VALUES (1, 0, 1, 'a'), (1, 1, 1, 'a');`)
  database.close()
  const archive = await openFile(t, directory, 'a.mbtiles')
  assert.deepEqual((await archive.tile(1, 1, 0))?.bytes, Buffer.from([0x1a, 0]))
  assert.partialDeepStrictEqual(await archive.info(), { format: 'pbf', minZoom: 1, maxZoom: 1 })
})

test('a vector archive of GDAL, and the PMTiles made from it, hold the same bytes', async (t) => {
  const directory = await temporaryDirectory(t)
  const features = Array.from({ length: 300 }, (_, n) => ({
    type: 'Feature',
    properties: { n, name: `place ${n}` },
    geometry: { type: 'Point', coordinates: [(n * 37) % 170, (n * 13) % 80] },
  }))
  await writeFile(join(directory, 'a.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const options = ['-f', 'MVT', join(directory, 'a.mbtiles'), join(directory, 'a.geojson'), '-dsco', 'MAXZOOM=4']
  await run('ogr2ogr', [...options, '-nln', 'places'])
  const stored = tilesOf(join(directory, 'a.mbtiles'))
  assert.ok(stored.length > 20)
  await writeFile(join(directory, 'a.pmtiles'), pmtilesOf(stored, { leafSize: 10 }))
  const mbtiles = await openFile(t, directory, 'a.mbtiles')
  const pmtiles = await openArchive('pmtiles://a.pmtiles', { files: createDirectoryStore(directory), fetch: noFetch })
  t.after(() => pmtiles.close())
  for (let z = 0; z <= 4; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) assert.deepEqual(await pmtiles.tile(z, x, y), await mbtiles.tile(z, x, y))
    }
  }
  for (const { z, x, y, bytes } of stored) assert.deepEqual((await mbtiles.tile(z, x, y))?.bytes, bytes)
  const info = await mbtiles.info()
  assert.partialDeepStrictEqual(info, { kind: 'vector', format: 'pbf', minZoom: 0, maxZoom: 4 })
  assert.deepEqual(info.vectorLayers[0]?.id, 'places')
  assert.deepEqual(Object.keys(info.vectorLayers[0]?.fields ?? {}), ['n', 'name'])
  assert.match(gunzipSync((await mbtiles.tile(0, 0, 0))?.bytes ?? '').toString('latin1'), /places/)
})

test('a raster archive of GDAL gives images', async (t) => {
  const directory = await temporaryDirectory(t)
  const [image, archiveFile] = [join(directory, 'a.pgm'), join(directory, 'a.mbtiles')]
  await writeFile(image, Buffer.concat([Buffer.from('P5 512 512 255\n'), Buffer.alloc(512 * 512, 'graticule')]))
  const corners = ['0', '5009377.0857', '5009377.0857', '0']
  await run('gdal_translate', [
    '-q',
    '-of',
    'MBTILES',
    '-a_srs',
    'EPSG:3857',
    '-a_ullr',
    ...corners,
    image,
    archiveFile,
  ])
  const archive = await openFile(t, directory, 'a.mbtiles')
  const info = await archive.info()
  assert.partialDeepStrictEqual(info, { kind: 'raster', format: 'png', vectorLayers: [] })
  const stored = tilesOf(archiveFile)
  assert.ok(stored.length > 0)
  for (const { z, x, y, bytes } of stored) {
    assert.deepEqual(await archive.tile(z, x, y), { bytes, encoding: 'identity' })
  }
  await writeFile(
    join(directory, 'a.pmtiles'),
    pmtilesOf(stored, { type: TileType.Png, compression: Compression.None }),
  )
  const pmtiles = await openArchive('pmtiles://a.pmtiles', { files: createDirectoryStore(directory), fetch: noFetch })
  t.after(() => pmtiles.close())
  for (const { z, x, y, bytes } of stored) assert.deepEqual((await pmtiles.tile(z, x, y))?.bytes, bytes)
})

const plainTables = `CREATE TABLE metadata (name text, value text);
  CREATE TABLE numbers (n integer);
  INSERT INTO numbers WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a LIMIT 3000) SELECT n FROM a;`
const slowView = `${plainTables}
  CREATE VIEW tiles AS SELECT 0 AS zoom_level, 0 AS tile_column, a.n + b.n + c.n + d.n - 100000 AS tile_row, x'1a' AS tile_data
    FROM numbers a, numbers b, numbers c, numbers d;`

test('an archive that takes too long is left alone, and the others of its process are read on', async (t) => {
  const directory = await temporaryDirectory(t)
  const database = new DatabaseSync(join(directory, 'slow.mbtiles'))
  database.exec(slowView)
  database.close()
  writeMbtiles(join(directory, 'good.mbtiles'), tiles)
  const [slow, good] = await openImpatiently(t, directory, ['slow.mbtiles', 'good.mbtiles'])
  assert.ok(slow && good)
  const [hung, ...found] = await Promise.allSettled([
    slow.tile(0, 0, 0),
    ...tiles.map(({ z, x, y }) => good.tile(z, x, y)),
  ])
  assert.equal(hung.status === 'rejected' && hung.reason.code, 'query_timeout')
  assert.deepEqual(
    found.map((result) => result.status === 'fulfilled' && result.value?.bytes),
    tiles.map(({ bytes }) => bytes),
  )
  const begun = Date.now()
  await assert.rejects(slow.tile(0, 0, 0), { code: 'query_timeout' })
  await assert.rejects(slow.info(), { code: 'query_timeout' })
  assert.ok(Date.now() - begun < impatientMs, 'it is not asked again')
})

test('new requests do not lengthen the time of one that hangs', async (t) => {
  const directory = await temporaryDirectory(t)
  const database = new DatabaseSync(join(directory, 'slow.mbtiles'))
  database.exec(slowView)
  database.close()
  writeMbtiles(join(directory, 'good.mbtiles'), tiles)
  const [slow, good] = await openImpatiently(t, directory, ['slow.mbtiles', 'good.mbtiles'])
  assert.ok(slow && good)
  await good.tile(0, 0, 0)
  const begun = Date.now()
  const others: Promise<unknown>[] = []
  const timer = setInterval(() => others.push(good.tile(0, 0, 0)), 20)
  await assert.rejects(slow.tile(0, 0, 0), { code: 'query_timeout' })
  clearInterval(timer)
  assert.ok(Date.now() - begun < 60_000)
  await Promise.all(others)
})

test('hostile schemas and broken files end in an error', async (t) => {
  const directory = await temporaryDirectory(t)
  const schemas: Record<string, string> = {
    'a recursive view': `CREATE TABLE metadata (name text, value text);
      CREATE VIEW tiles AS WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a)
      SELECT 0 AS zoom_level, 0 AS tile_column, 0 - n AS tile_row, x'1a' AS tile_data FROM a`,
    'a blob out of nothing': `CREATE TABLE metadata (name text, value text);
      CREATE VIEW tiles AS SELECT 0 AS zoom_level, 0 AS tile_column, 0 AS tile_row, zeroblob(900000000) AS tile_data`,
    'a giant blob': `CREATE TABLE metadata (name text, value text);
      CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
      INSERT INTO tiles VALUES (0, 0, 0, zeroblob(20000000))`,
    'a view of itself': `CREATE TABLE metadata (name text, value text);
      CREATE VIEW tiles AS SELECT * FROM other; CREATE VIEW other AS SELECT * FROM tiles`,
    'no tables': 'CREATE TABLE a (b)',
    'other columns': 'CREATE TABLE tiles (a, b)',
  }
  for (const [name, schema] of Object.entries(schemas)) {
    const database = new DatabaseSync(join(directory, `${name}.mbtiles`))
    database.exec(schema)
    database.close()
  }
  const whole = join(directory, 'whole.mbtiles')
  writeMbtiles(whole, tiles)
  await writeFile(join(directory, 'empty.mbtiles'), '')
  await writeFile(join(directory, 'text.mbtiles'), 'hello'.repeat(10_000))
  for (const name of [...Object.keys(schemas), 'empty', 'text']) {
    const archive = await openFile(t, directory, `${name}.mbtiles`)
    await assert.rejects(archive.tile(0, 0, 0), { code: 'upstream_failed' }, name)
    await archive.close()
  }
})

test('files with pages changed at random give tiles or errors, and always an end', async (t) => {
  const directory = await temporaryDirectory(t)
  const names = Array.from({ length: 40 }, (_, n) => `${n}.mbtiles`)
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (const name of names) {
    writeMbtiles(join(directory, name), tiles, { hasIndex: random(2) === 0 })
    const file = await open(join(directory, name), 'r+')
    const { size } = await file.stat()
    for (let change = 0; change < 20; change++)
      await file.write(Buffer.from([random(256)]), 0, 1, 100 + random(size - 100))
    await file.close()
  }
  for (const archive of await openImpatiently(t, directory, names)) {
    const asked = await Promise.allSettled([archive.info(), archive.tile(3, 4, 5), archive.tile(0, 0, 0)])
    for (const answer of asked) {
      if (answer.status === 'rejected') assert.match(answer.reason.code, /upstream_failed|query_timeout/)
    }
  }
})

test('a file in WAL mode is read, and nothing is left beside it', async (t) => {
  const directory = await temporaryDirectory(t)
  writeMbtiles(join(directory, 'a.mbtiles'), tiles)
  const database = new DatabaseSync(join(directory, 'a.mbtiles'))
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
  const archive = await openFile(t, directory, 'a.mbtiles')
  assert.ok(await archive.tile(0, 0, 0))
  assert.deepEqual(await readdir(directory), ['a.mbtiles'])
})

test('whoever gives up before its turn is not waited for', async (t) => {
  const directory = await temporaryDirectory(t)
  writeMbtiles(join(directory, 'a.mbtiles'), tiles)
  const archive = await openFile(t, directory, 'a.mbtiles')
  const reason = new Error('gone')
  await assert.rejects(archive.tile(0, 0, 0, AbortSignal.abort(reason)), reason)
  const leaving = new AbortController()
  const asked = archive.tile(0, 0, 0, leaving.signal)
  leaving.abort(reason)
  await assert.rejects(asked, reason)
  assert.ok(await archive.tile(0, 0, 0))
})

test('the end of the process, whatever it comes from, costs one request at most', async (t) => {
  const directory = await temporaryDirectory(t)
  writeMbtiles(join(directory, 'a.mbtiles'), tiles)
  const archive = await openFile(t, directory, 'a.mbtiles')
  assert.ok(await archive.tile(0, 0, 0))
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8').catch(() => '')
  const asked = Array.from({ length: 100 }, () => archive.tile(1, 1, 1))
  for (const pid of children.trim().split(' ').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
  const results = await Promise.allSettled(asked)
  assert.ok(results.filter(({ status }) => status === 'rejected').length <= 1)
})
