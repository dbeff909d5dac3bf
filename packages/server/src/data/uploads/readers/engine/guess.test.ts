import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { layersFor, writeLayer } from '../../../../../testing/uploads/source-layers.ts'
import { openCsv } from '../csv/csv.ts'
import { openGeoJson } from '../geojson/geojson.ts'
import { openGeoPackage } from '../geopackage/geopackage.ts'
import { type EncodedColumn, geometryColumnType, type Reader, type ScannedLayer } from '../reader.ts'
import { openShapefiles } from '../shapefile/shapefile.ts'

const { signal } = new AbortController()
let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'guess-'))
})
after(() => rm(directory, { recursive: true }))

function columnsFor({ fields, geometryTypes, hasZ }: ScannedLayer): EncodedColumn[] {
  return [
    { kind: 'fid' },
    ...fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
    { kind: 'geometry', srid: 4326, hasZ, isMulti: geometryColumnType(geometryTypes).isMulti },
  ]
}

/** Both ways through a file must come to the same, or the quick one must say that it did not. */
async function bothWays(open: () => Promise<Reader> | Reader) {
  const [slow, quick] = [await open(), await open()]
  const [layer = ''] = await slow.layers()
  const scanned = await slow.scan(layer, { signal })
  const rows = Buffer.concat(await copies(slow.encode(layer, columnsFor(scanned), { signal })))
  const guess = await quick.guess(layer, { signal })
  assert.ok(guess)
  const chunks: Buffer[] = []
  const loading = quick.load(layer, columnsFor(guess), { signal })
  let step = await loading.next()
  for (; !step.done; step = await loading.next()) chunks.push(Buffer.from(step.value))
  assert.deepEqual(step.value.layer, scanned)
  const again = Buffer.concat(await copies(quick.encode(layer, columnsFor(scanned), { signal })))
  assert.ok(again.equals(rows), 'what is encoded after a load')
  await slow.close()
  await quick.close()
  return { isAsGuessed: step.value.isAsGuessed, isWhole: Buffer.concat(chunks).equals(rows) }
}

async function copies(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const kept: Buffer[] = []
  for await (const chunk of chunks) kept.push(Buffer.from(chunk))
  return kept
}

const feature = (properties: object, coordinates: unknown = [1, 2], type = 'Point'): string =>
  JSON.stringify({ type: 'Feature', properties, geometry: { type, coordinates } })

async function geojson(late: string[]) {
  const early = Array.from({ length: 2_100 }, (_, n) => feature({ a: n, b: n % 2 ? null : `text ${n}`, 'q"\\': n / 2 }))
  const file = join(directory, 'a.geojson')
  await writeFile(file, `{"type":"FeatureCollection","features":[${[...early, ...late].join(',\n')}]}`)
  return bothWays(() => openGeoJson(file, { fileName: 'a.geojson', window: 1000 }))
}

const right = { isAsGuessed: true, isWhole: true }
const wrong = { isAsGuessed: false, isWhole: false }

test('GeoJSON that goes on as it begins is loaded in one reading', async () => {
  assert.deepEqual(await geojson([feature({ a: -5, b: 'ü' }), feature({}), feature({ a: null }, [])]), right)
})

test('GeoJSON that goes on otherwise is noticed, and all of it is scanned', async () => {
  for (const late of [
    feature({ a: 2 ** 40 }),
    feature({ a: 'text' }),
    feature({ a: {} }),
    feature({ c: null }),
    feature({ a: 1 }, [1, 2, 3]),
    feature({ a: 1 }, [[1, 2]], 'MultiPoint'),
    `{"type":"Feature","id":7,"properties":null,"geometry":null}`,
  ]) {
    assert.deepEqual(await geojson([late, feature({ a: 3 })]), wrong, late)
  }
})

async function csv(late: string[]) {
  const early = Array.from({ length: 4_000 }, (_, n) => `${n},word ${n},${n % 90},${n % 45}`)
  const file = join(directory, 'a.csv')
  await writeFile(file, ['number,word,lon,lat', ...early, ...late].join('\n'))
  return bothWays(() => openCsv(file, { fileName: 'a.csv' }))
}

test('CSV is loaded in one reading, or a late surprise is noticed', async () => {
  assert.deepEqual(await csv(['7,,1,2', ',x,,', '8,y,east,north', '9,z,1,2,3', '10,a,1,91']), right)
  assert.deepEqual(await csv(['7,,1,2', ',x,,']), right)
  assert.deepEqual(await csv(['7.5,x,1,2']), wrong)
  assert.deepEqual(await csv(['007,x,1,2']), wrong)
})

test('a GeoPackage is loaded in one reading, or a late surprise is noticed', async () => {
  const layer = layersFor('geopackage').find(({ name }) => name === 'points_3d')
  assert.ok(layer)
  const file = await writeLayer(layer, 'geopackage', directory)
  {
    using database = new DatabaseSync(file)
    for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      database.exec(`DROP TRIGGER "${name}"`)
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO points_3d (gpkg_geom, z) SELECT p.gpkg_geom, i FROM n, (SELECT gpkg_geom FROM points_3d LIMIT 1) AS p`)
  }
  assert.deepEqual(await bothWays(() => openGeoPackage(file)), right)
  {
    using database = new DatabaseSync(file)
    database.exec("UPDATE points_3d SET z = 'text' WHERE z = 4999")
  }
  assert.deepEqual(await bothWays(() => openGeoPackage(file)), wrong)
})

test('a Shapefile is loaded in one reading, or a late surprise is noticed', async () => {
  const shapes = async (late: string[]) => {
    const early = Array.from({ length: 3_000 }, (_, n) => feature({ a: n, word: `word ${n}` }))
    const source = join(directory, 'shapes.geojson')
    await writeFile(source, `{"type":"FeatureCollection","features":[${[...early, ...late].join(',')}]}`)
    const shp = join(directory, 'shapes.shp')
    execFileSync('ogr2ogr', ['-overwrite', '-f', 'ESRI Shapefile', '-lco', 'ENCODING=UTF-8', shp, source])
    const parts = { name: 'shapes', shp, dbf: shp.replace('.shp', '.dbf'), shx: shp.replace('.shp', '.shx') }
    return bothWays(() => openShapefiles([parts]))
  }
  assert.deepEqual(await shapes([feature({ a: null, word: 'späť' })]), right)
  assert.deepEqual(await shapes([feature({ a: 5_000_000_000 }), feature({ a: 1 })]), wrong)
})
