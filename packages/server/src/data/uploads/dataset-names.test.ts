import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sourceLayers } from '../../../testing/uploads/layer-data.ts'
import { writeLayer, writeLayers } from '../../../testing/uploads/source-layers.ts'
import { workbookOf } from '../../../testing/uploads/workbook-of.ts'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: a name is chosen from the file; upload.test.ts and replace.test.ts store datasets in both.

let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-names-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

async function namesOf(name: string, bytes: string | Uint8Array, fields: Record<string, string> = {}) {
  const done = await uploads.upload({ name, bytes }, fields)
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const names: string[] = []
  for (const { datasetId } of done.results)
    names.push((await uploads.call('GET', `/api/v1/datasets/${datasetId}`)).body.name)
  return names
}

const sheet = [
  ['name', 'size'],
  ['a', 1],
]
const kml =
  '<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>export</name><Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>'

test('a dataset is called after its file, whatever the only layer in it is called', async () => {
  const [points] = sourceLayers.filter(({ name }) => name === 'points')
  assert.ok(points)
  const written = async (format: Parameters<typeof writeLayer>[1]) =>
    readFile(await writeLayer(points, format, directory))
  assert.deepEqual(await namesOf('Trees.xlsx', workbookOf({ Sheet1: sheet, Sheet2: [] })), ['Trees'])
  assert.deepEqual(await namesOf('Trees of Bern.gpkg', await written('geopackage')), ['Trees of Bern'])
  assert.deepEqual(await namesOf('trees.fgb', await written('flatgeobuf')), ['trees'])
  assert.deepEqual(await namesOf('trees.zip', await written('shapefile')), ['trees'])
  assert.deepEqual(await namesOf('trees.kml', kml), ['trees'])
  assert.deepEqual(await namesOf('trees.kmz', zipOf([{ name: 'doc.kml', content: Buffer.from(kml) }])), ['trees'])
  const csv = Buffer.from('name,lat,lon\na,1,2\n')
  assert.deepEqual(await namesOf('trees.2024.zip', zipOf([{ name: 'export.csv', content: csv }])), ['trees.2024'])
})

test('a drawing is called after its file and not "entities"', async () => {
  const dxf = [
    '0',
    'SECTION',
    '2',
    'ENTITIES',
    '0',
    'POINT',
    '8',
    '0',
    '10',
    '1.0',
    '20',
    '2.0',
    '0',
    'ENDSEC',
    '0',
    'EOF',
  ]
  assert.deepEqual(await namesOf('site plan.dxf', `${dxf.join('\n')}\n`), ['site plan'])
})

test('several layers keep their names, and the name that is given goes before all', async () => {
  const layers = sourceLayers.filter(({ name }) => ['points', 'holes'].includes(name))
  const several = await readFile(await writeLayers(layers, 'geopackage', directory, 'several'))
  assert.deepEqual((await namesOf('several.gpkg', several)).sort(), ['holes', 'points'])
  assert.deepEqual(await namesOf('several.gpkg', several, { layer: 'holes' }), ['holes'])
  assert.deepEqual(await namesOf('several.gpkg', several, { layer: 'holes', name: 'Mine' }), ['Mine'])
  const sheets = workbookOf({ Trees: sheet, Bushes: sheet })
  assert.deepEqual(await namesOf('plants.xlsx', sheets), ['Trees', 'Bushes'])
  assert.deepEqual(await namesOf('plants.xlsx', sheets, { name: 'Plants' }), ['Plants: Trees', 'Plants: Bushes'])
  assert.deepEqual(await namesOf('plants.csv', 'a,b\n1,2\n', { name: 'Plants' }), ['Plants'])
})

test('columns get names that work, and remember their own', async () => {
  const long = 'ä'.repeat(50)
  const names = [
    'fid',
    'geom',
    'Name',
    'name',
    'NAME',
    'select',
    'ctid',
    'a "b"; c',
    '',
    long,
    `${long}x`,
    "it's",
    '__proto__',
  ]
  const properties = Object.fromEntries(
    // A fid of integers would be the key.
    names.map((name, index) => [name, name === 'fid' ? 'a' : index]).filter(([name]) => name !== '__proto__'),
  )
  const feature = { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [1, 2] } }
  const done = await uploads.upload({ name: 'a.geojson', bytes: JSON.stringify(feature) })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const { body } = await uploads.call('GET', `/api/v1/datasets/${done.datasetId}`)
  const described = body.attributes.map((one: { name: string; description: string }) => [one.name, one.description])
  assert.deepEqual(described.slice(1, 10), [
    ['fid_2', 'fid'],
    ['geom_2', 'geom'],
    ['Name', ''],
    ['name_2', 'name'],
    ['NAME_3', 'NAME'],
    ['select', ''],
    ['ctid_2', 'ctid'],
    ['a_b_c', 'a "b"; c'],
    ['column', ''],
  ])
  assert.equal((await uploads.rows(done.datasetId))[0].a_b_c, 7)
})

test('tables of files with long names have names of their own, at most 63 bytes each, and so have their indexes', async () => {
  const points = (name: string) => ({ name: `${name}.csv`, bytes: 'name,lat,lon\na,1,2\n' })
  const sources: string[] = []
  // The 20th letter is one that is two in UTF-16.
  for (const name of ['漢'.repeat(40), `${'a'.repeat(19)}${'𠮷'.repeat(20)}`, 'ä'.repeat(60)])
    for (let n = 0; n < 2; n++) {
      const { status, error, datasetId } = await uploads.upload(points(name))
      assert.equal(status, 'completed', JSON.stringify(error))
      sources.push((await uploads.call('GET', `/api/v1/datasets/${datasetId}`)).body.source)
    }
  assert.equal(new Set(sources).size, 6)
  assert.ok(
    sources.every((source) => Buffer.byteLength(source) <= 63 && source.isWellFormed()),
    sources.join(' '),
  )
  const indexes = await uploads.app.db.query<{ table: string; name: string }>(sql`
    SELECT tablename::text AS "table", indexname::text AS name FROM pg_indexes WHERE tablename = ANY (${sources}::text[])`)
  assert.equal(indexes.length, 12)
  for (const { table, name } of indexes) assert.match(name, /_(pkey|geom)$/, table)
  assert.ok(indexes.every(({ name }) => !name.startsWith('svc_')))
})
