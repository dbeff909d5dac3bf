import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: ids are read from the file; upload.test.ts and replace.test.ts copy rows into both.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-ids-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

type Row = Record<string, unknown>

const geometry = { type: 'Point', coordinates: [8, 47] }
const point = (id: string | number, properties: Row = { name: 'a' }) => ({ type: 'Feature', id, properties, geometry })
const geojson = (...features: object[]): string => JSON.stringify({ type: 'FeatureCollection', features })

/** The rows of what the file became, without its geometries. */
async function rowsOf(name: string, bytes: string | Uint8Array, fields = {}): Promise<Row[]> {
  const done = await uploads.upload({ name, bytes }, fields)
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const rows: Row[] = await uploads.rows(done.datasetId, 'sort=fid')
  return rows.map(({ geom: _, fid: __, ...row }) => row)
}

/** The file that GDAL makes of features. */
async function converted(features: string, name: string, ...options: string[]): Promise<string> {
  const folder = await mkdtemp(join(directory, 'c-'))
  await writeFile(join(folder, 'towns.geojson'), features)
  await run('ogr2ogr', [...options, name, 'towns.geojson'], { cwd: folder })
  return join(folder, name)
}

async function zipped(file: string): Promise<Buffer> {
  const folder = join(file, '..')
  await run('zip', ['-q', '-r', 'a.zip', file.slice(folder.length + 1)], { cwd: folder })
  return readFile(join(folder, 'a.zip'))
}

test('the ids of GeoJSON are in the column id, or in feature_id where a property has that name', async () => {
  assert.deepEqual(await rowsOf('a.geojson', geojson(point('x'), point('y'))), [
    { id: 'x', name: 'a' },
    { id: 'y', name: 'a' },
  ])
  assert.deepEqual(await rowsOf('a.geojson', geojson(point(7, { Id: 'own' }), point(8, { Id: 'own' }))), [
    { feature_id: 7, Id: 'own' },
    { feature_id: 8, Id: 'own' },
  ])
})

test('the ids of TopoJSON are, too', async () => {
  const topology = (properties: Row) =>
    JSON.stringify({
      type: 'Topology',
      objects: { a: { type: 'GeometryCollection', geometries: [{ ...geometry, id: 'x', properties }] } },
      arcs: [],
    })
  assert.deepEqual(await rowsOf('a.json', topology({ n: 1 })), [{ id: 'x', n: 1 }])
  assert.deepEqual(await rowsOf('a.json', topology({ id: 1 })), [{ feature_id: 'x', id: 1 }])
})

test('the ids of the placemarks of KML are, too', async () => {
  const kml = (inner: string) =>
    `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark id="x">${inner}<Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`
  assert.deepEqual(await rowsOf('a.kml', kml('<name>a</name>')), [{ id: 'x', name: 'a' }])
  const own = '<ExtendedData><Data name="id"><value>5</value></Data></ExtendedData>'
  assert.deepEqual(await rowsOf('a.kml', kml(own)), [{ feature_id: 'x', id: 5 }])
})

test('the key of a GeoPackage is kept where it says more than the order of the rows', async () => {
  const counting = await converted(geojson(point(1), point(2)), 'a.gpkg')
  assert.deepEqual(await rowsOf('a.gpkg', await readFile(counting)), [{ name: 'a' }, { name: 'a' }])
  const own = await converted(geojson(point(17), point(40_000_000_000)), 'a.gpkg', '-preserve_fid')
  assert.deepEqual(await rowsOf('a.gpkg', await readFile(own)), [
    { id: 17, name: 'a' },
    { id: 40_000_000_000, name: 'a' },
  ])
  // Beyond the rows of which the columns are guessed.
  const late = await converted(geojson(...Array.from({ length: 2_500 }, (_, n) => point(n + 1))), 'a.gpkg')
  {
    using database = new DatabaseSync(late)
    // SpatiaLite's functions in the triggers are not there.
    for (const { name } of database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all())
      database.exec(`DROP TRIGGER "${name}"`)
    database.exec('UPDATE towns SET fid = 9000 WHERE fid = 2500')
  }
  const done = await uploads.upload({ name: 'a.gpkg', bytes: await readFile(late) })
  assert.deepEqual(
    (await uploads.rows(done.datasetId, 'filter[id]=9000')).map(({ fid }: Row) => fid),
    [2_500],
  )
})

test('the OBJECTID of a FileGDB is kept', async () => {
  const file = await converted(geojson(point(5), point(9)), 'a.gdb', '-f', 'OpenFileGDB', '-preserve_fid')
  assert.deepEqual(await rowsOf('a.zip', await zipped(file)), [
    { name: 'a', OBJECTID: 5 },
    { name: 'a', OBJECTID: 9 },
  ])
})

for (const version of ['GML2', 'GML3', 'GML3.2']) {
  test(`of ${version} the ids are kept and the bounds make no columns`, async () => {
    const features = geojson(
      point('x', { name: 'a', lowerCorner: 'own' }),
      point('y', { name: 'b', lowerCorner: 'own' }),
    )
    const file = await converted(features, 'a.gml', '-f', 'GML', '-dsco', `FORMAT=${version}`)
    const rows = await rowsOf('a.gml', await readFile(file))
    const key = version === 'GML2' ? 'fid_2' : 'gml_id'
    assert.deepEqual(rows, [
      { [key]: 'towns.0', id: 'x', name: 'a', lowerCorner: 'own' },
      { [key]: 'towns.1', id: 'y', name: 'b', lowerCorner: 'own' },
    ])
  })
}
