import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { workbookOf } from './testing/workbook-of.ts'

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
