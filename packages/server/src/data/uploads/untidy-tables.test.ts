import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dbfOf } from '../../../testing/uploads/dbf-of.ts'
import { workbookOf } from '../../../testing/uploads/workbook-of.ts'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: the reader finds the table, before a row reaches the database.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

type Fields = Record<string, string>

async function completed(name: string, bytes: string | Uint8Array, fields: Fields = {}) {
  const done = await uploads.upload({ name, bytes }, fields)
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  return { done, rows: await uploads.rows(done.datasetId) }
}

/** To about a centimetre. */
const placesOf = (rows: { geom: { coordinates: number[] } | null }[]) =>
  rows.map(({ geom }) => geom?.coordinates.map((value) => Math.round(value * 1e7) / 1e7) ?? null)

test('a list of stations with a title, German headings and degrees, minutes and seconds becomes a map', async () => {
  const { done, rows } = await completed(
    'Messstellen.csv',
    [
      'Messstellen der Region;;;',
      'Stand: 31. Januar 2024;;;',
      '',
      'Nr.;Name;Geogr. Breite;Geogr. Länge',
      '1;Zürich;47°22\'30"N;8°32\'24"O',
      "2;Bern;46°57'N;7°27'O",
      '3;unbekannt;;',
    ].join('\r\n'),
  )
  assert.equal(done.tileSourceId, done.datasetId)
  assert.deepEqual(placesOf(rows), [[8.54, 47.375], [7.45, 46.95], null])
})

test('a workbook with both coordinates in one column becomes a map, and says in which order they were read', async () => {
  const { done, rows } = await completed(
    'cities.xlsx',
    workbookOf({
      Cities: [
        ['Cities of Finland', null, null],
        ['name', 'population', 'coordinates'],
        ['Helsinki', 664_000, '60.17, 24.94'],
        ['Turku', 198_000, '60.45, 22.27'],
      ],
    }),
  )
  assert.deepEqual(placesOf(rows), [
    [24.94, 60.17],
    [22.27, 60.45],
  ])
  assert.deepEqual(
    done.warnings.map(({ code }: { code: string }) => code),
    ['coordinate_order'],
  )
})

test('a table with a latitude and no longitude becomes a dataset without a map, and a warning says why', async () => {
  const { done } = await completed('half.csv', 'name,latitude,east\nHelsinki,60.17,24.94\n')
  assert.equal(done.tileSourceId, null)
  assert.match(done.warnings[0].message, /"latitude" looks like a coordinate, but no column is called longitude/)
})

/** A thousand stations in a grid, and rows in place of some. */
const stations = (wrong: Record<number, string>) =>
  [
    'id,name,lat,lon',
    ...Array.from({ length: 1_000 }, (_, n) => wrong[n] ?? `${n},"station ${n}",${n % 90},${n % 180}`),
  ].join('\n')

test('impossible rows are skipped and named, up to one in a hundred', async () => {
  const { done, rows } = await completed(
    'stations.csv',
    stations({
      10: '10,"two\nlines",600.17,24.94',
      20: '20,x,sixty,24.94',
      30: '30,x,60.17,24.94,more',
      40: '40,x',
      50: '50,x,,',
    }),
  )
  assert.equal(done.featureCount, 996)
  assert.equal(rows.length, 996)
  const [skipped] = done.warnings
  assert.deepEqual([skipped.code, skipped.count], ['skipped_rows', 4])
  for (const named of [
    'line 12, column "lat": "600.17" is not a latitude',
    'line 23, column "lat": "sixty" is not a latitude',
    'line 33: the row has 5 cells, the heading 4',
    'line 43: the row has 2 cells, the heading 4',
  ])
    assert.ok(skipped.message.includes(named), skipped.message)
})

test('one impossible row fails a strict upload, and its error names the row', async () => {
  const done = await uploads.upload({ name: 'a.csv', bytes: stations({ 10: '10,x,91,24.94' }) }, { strict: 'true' })
  assert.equal(done.status, 'failed')
  assert.deepEqual([done.error.code, done.error.line], ['invalid_rows', 12])
  assert.match(done.error.message, /^1 of 1000 rows cannot be loaded, .*line 12, column "lat": "91" is not a latitude/)
})

test('more impossible rows than one in a hundred fail the upload, and the first few are named', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [n * 50, `${n},x,north,0`]))
  const done = await uploads.upload({ name: 'a.csv', bytes: stations(wrong) })
  assert.deepEqual([done.status, done.error.code], ['failed', 'invalid_rows'])
  assert.match(done.error.message, /^11 of 1000 rows .* more than 1 %: line 2, .*; line 202, .*; and 6 more/)
})

test('a feature of GeoJSON outside the world is skipped and named, and fails a strict upload', async () => {
  const features = Array.from({ length: 200 }, (_, n) => ({
    type: 'Feature',
    properties: { n },
    geometry: { type: 'Point', coordinates: n === 150 ? [24.94, 6017] : [n / 2, n / 4] },
  }))
  const bytes = JSON.stringify({ type: 'FeatureCollection', features })
  const { done, rows } = await completed('a.geojson', bytes)
  assert.equal(rows.length, 199)
  assert.match(done.warnings[0].message, /^One row was skipped: feature 151: "6017" is not a latitude/)
  const strict = await uploads.upload({ name: 'a.geojson', bytes }, { strict: 'true' })
  assert.deepEqual([strict.error.code, strict.error.feature], ['invalid_rows', 151])
})

test('coordinates that are no degrees are not impossible where their reference system is given', async () => {
  const bytes = 'id,x,y\n1,385000,6672000\n2,385100,6672100\n3,50,60\n'
  for (const sourceSrid of ['3067', 'EPSG:3067', 'epsg:3067', 'urn:ogc:def:crs:EPSG::3067']) {
    const { done } = await completed('a.csv', bytes, { sourceSrid })
    assert.equal(done.featureCount, 3)
    assert.equal(done.options.sourceSrid, 3067)
  }
  const unknown = await uploads.upload({ name: 'a.csv', bytes })
  assert.equal(unknown.error.code, 'srid_required')
  const wrong = await uploads.send({ name: 'a.csv', bytes }, { sourceSrid: 'WGS 84' })
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.detail, /"WGS 84" is not a reference system.*EPSG:3067/)
})

test('a PDF becomes no dataset', async () => {
  const objects = Array.from({ length: 20 }, (_, n) => `${n + 1} 0 obj\n<< /Type /Page, /Parent 1 0 R >>\nendobj`)
  const done = await uploads.upload({ name: 'a.csv', bytes: `%PDF-1.4\n${objects.join('\n')}\n%%EOF\n` })
  assert.deepEqual([done.status, done.error.code, done.datasetId], ['failed', 'unsupported_format', null])
})

test('an archive within an archive is passed over with a warning, beside files that are read', async () => {
  const inner = zipOf([{ name: 'b.csv', content: Buffer.from('n\n1\n') }])
  const table = { name: 'a.csv', content: Buffer.from('name,value\nx,1\n') }
  const { done, rows } = await completed('a.zip', zipOf([table, { name: 'more.zip', content: inner }]))
  assert.deepEqual(rows, [{ fid: 1, name: 'x', value: 1 }])
  assert.match(JSON.stringify(done.warnings), /files_ignored.*more\.zip/)
  for (const beside of [[], [{ name: 'readme.txt', content: Buffer.from('Unpack it') }]]) {
    const bytes = zipOf([...beside, { name: 'more.zip', content: inner }])
    const { error } = await uploads.upload({ name: 'a.zip', bytes })
    assert.match(error.message, /"more\.zip" is an archive itself; unpack it first/)
  }
})

test('the table of a shapefile is read alone, without an archive', async () => {
  const { rows } = await completed(
    'words.dbf',
    dbfOf([
      { row: 1, word: 'one' },
      { row: 2, word: 'two' },
    ]),
  )
  assert.deepEqual(rows, [
    { fid: 1, row: 1, word: 'one' },
    { fid: 2, row: 2, word: 'two' },
  ])
})
