import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pmtilesOf } from '../../../testing/tile-archives.ts'
import { sourceLayers } from '../../../testing/uploads/layer-data.ts'
import { writeParquet } from '../../../testing/uploads/parquet-writer.ts'
import { formats, type SourceFormat, writeLayer, writeLayers } from '../../../testing/uploads/source-layers.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: the rows of every format are loaded by one COPY, which upload.test.ts and replace.test.ts do on both.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-formats-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

const points = sourceLayers.filter(({ name }) => name === 'points')

for (const format of Object.keys(formats) as SourceFormat[]) {
  test(`a file of the format ${format} becomes a dataset`, async () => {
    const [layer] = points
    assert.ok(layer)
    const bytes = await readFile(await writeLayer(layer, format, directory))
    const done = await uploads.upload({ name: 'a file', bytes })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.equal(done.featureCount, layer.features.length)
    const rows = await uploads.rows(done.datasetId)
    assert.equal(rows.length, layer.features.length)
    const isPlain = format === 'xlsx' || format === 'ods'
    assert.equal(done.tileSourceId, isPlain ? null : done.datasetId)
  })
}

const square = (x: number) => [
  [x, 0],
  [x, 1],
  [x + 1, 1],
  [x, 0],
]

async function zippedAs(name: string, bytes: string): Promise<Buffer> {
  const folder = await mkdtemp(join(directory, 'zip-'))
  await writeFile(join(folder, name), bytes)
  await run('zip', ['-q', 'a.zip', name], { cwd: folder })
  return readFile(join(folder, 'a.zip'))
}

async function parquet(): Promise<Buffer> {
  const file = join(directory, 'a.parquet')
  const point = Buffer.from('0101000000000000000000f03f0000000000000040', 'hex')
  const geo = { version: '1.0.0', primary_column: 'geometry', columns: { geometry: { encoding: 'WKB' } } }
  const columns = [
    { path: ['geometry'], type: 'bytes' as const, values: [point, point] },
    { path: ['n'], type: 'int32' as const, values: [1, 2] },
  ]
  await writeParquet(file, columns, { geo })
  return readFile(file)
}

/** Each has two features; GDAL does not write them here. */
const others: Record<string, () => Promise<string | Uint8Array> | string> = {
  TSV: () => 'name\tlon\tlat\na\t1\t2\nb\t3\t4\n',
  KMZ: () =>
    zippedAs(
      'doc.kml',
      `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${'<Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark>'.repeat(2)}</Document></kml>`,
    ),
  TopoJSON: () =>
    JSON.stringify({
      type: 'Topology',
      objects: {
        areas: {
          type: 'GeometryCollection',
          geometries: [0, 1].map((n) => ({ type: 'Polygon', arcs: [[n]], properties: { n } })),
        },
      },
      arcs: [square(0), square(5)],
    }),
  GeoParquet: parquet,
}

for (const [format, make] of Object.entries(others)) {
  test(`a file of the format ${format} becomes a dataset with a map`, async () => {
    const done = await uploads.upload({ name: 'a file', bytes: await make() })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.equal(done.tileSourceId, done.datasetId)
    const rows = await uploads.rows(done.datasetId)
    assert.equal(rows.length, 2)
    assert.ok(rows.every(({ geom }: { geom: object | null }) => geom !== null))
  })
}

test('gzip around a file makes no difference', async () => {
  const bytes = gzipSync('name,lon,lat\na,1,2\nb,3,4\n')
  const done = await uploads.upload({ name: 'a.csv.gz', bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.equal(done.featureCount, 2)
})

test('a CSV without geometry becomes a dataset without a map', async () => {
  const done = await uploads.upload({ name: 'a.csv', bytes: 'Name;Value\na;1\nb;2\n' })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.equal(done.tileSourceId, null)
  assert.deepEqual(await uploads.rows(done.datasetId), [
    { fid: 1, Name: 'a', Value: 1 },
    { fid: 2, Name: 'b', Value: 2 },
  ])
})

test('several layers become several datasets, or the one that is named', async () => {
  const layers = sourceLayers.filter(({ name }) => ['points', 'holes', 'dates'].includes(name))
  assert.ok(layers.length > 1)
  const bytes = await readFile(await writeLayers(layers, 'geopackage', directory, 'several'))
  const all = await uploads.upload({ name: 'several.gpkg', bytes }, { name: 'Mine' })
  assert.equal(all.status, 'completed', JSON.stringify(all.error))
  assert.equal(all.results.length, layers.length)
  assert.equal(all.datasetId, all.results[0].datasetId)
  const { body: first } = await uploads.call('GET', `/api/v1/datasets/${all.datasetId}`)
  assert.equal(first.name, `Mine: ${all.results[0].layer}`)
  const one = await uploads.upload({ name: 'several.gpkg', bytes }, { layer: layers[1]?.name ?? '' })
  assert.deepEqual(
    one.results.map(({ layer }: { layer: string }) => layer),
    [layers[1]?.name],
  )
  const none = await uploads.upload({ name: 'several.gpkg', bytes }, { layer: 'x' })
  assert.equal(none.error.code, 'layer_not_found')
  const unclear = await uploads.upload({ name: 'several.gpkg', bytes }, { datasetId: all.datasetId })
  assert.equal(unclear.error.code, 'layer_required')
})

test('an archive of tiles becomes a tile source without a dataset', async () => {
  const mbtiles = join(directory, 'a.mbtiles')
  using database = new DatabaseSync(mbtiles)
  database.exec(`
    CREATE TABLE metadata (name text, value text);
    CREATE TABLE tiles (zoom_level int, tile_column int, tile_row int, tile_data blob);
    INSERT INTO metadata VALUES ('name', 'a'), ('format', 'png'), ('minzoom', '0'), ('maxzoom', '3'),
      ('bounds', '-10,-20,30,40'), ('attribution', 'Them');
    INSERT INTO tiles VALUES (0, 0, 0, x'89504e470d0a1a0a')`)
  const done = await uploads.upload({ name: 'a.mbtiles', bytes: await readFile(mbtiles) })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.equal(done.datasetId, null)
  const { body: source } = await uploads.call('GET', `/api/v1/tilesources/${done.tileSourceId}`)
  assert.equal(source.type, 'tilelive')
  assert.equal(source.maxZoom, 3)
  assert.equal(source.attribution, 'Them')
  const tile = await fetch(`${uploads.address}/tiles/${done.tileSourceId}/0/0/0.png`, {
    headers: { 'x-api-key': uploads.tenant.developer },
  })
  assert.equal(tile.status, 200)
})

test('an archive of PMTiles does, too', async () => {
  const tile = gzipSync(Buffer.from([0x1a, 0]))
  const bytes = pmtilesOf([{ z: 0, x: 0, y: 0, bytes: tile }], { metadata: { attribution: 'Us' } })
  const done = await uploads.upload({ name: 'a.pmtiles', bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.equal(done.datasetId, null)
  const { body: source } = await uploads.call('GET', `/api/v1/tilesources/${done.tileSourceId}`)
  assert.deepEqual([source.type, source.attribution, source.maxZoom], ['tilelive', 'Us', 0])
  const reply = await fetch(`${uploads.address}/tiles/${done.tileSourceId}/0/0/0.mvt`, {
    headers: { 'x-api-key': uploads.tenant.developer },
  })
  assert.equal(reply.status, 200)
})

test('nothing is left behind but what was made', async () => {
  assert.deepEqual(await uploads.leftovers(), [])
})
