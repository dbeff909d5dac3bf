import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { encodedText } from '../../../testing/uploads/encoded-text.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: text is decoded by the reader, before it reaches the database.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-encoding-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

const languageDriverAt = 29

/** A Shapefile that GDAL wrote in the encoding, without a word about it. */
async function shapefile(names: readonly string[], encoding: string, column = 'name'): Promise<Buffer> {
  const folder = await mkdtemp(join(directory, 's-'))
  const features = names.map((name, index) => ({
    type: 'Feature',
    properties: { [column]: name },
    geometry: { type: 'Point', coordinates: [index, 50] },
  }))
  await writeFile(join(folder, 'a.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  await run('ogr2ogr', ['-f', 'ESRI Shapefile', '-lco', `ENCODING=${encoding}`, 'towns.shp', 'a.geojson'], {
    cwd: folder,
  })
  const table = await readFile(join(folder, 'towns.dbf'))
  table[languageDriverAt] = 0
  await writeFile(join(folder, 'towns.dbf'), table)
  await run('zip', ['-q', 'a.zip', 'towns.shp', 'towns.shx', 'towns.dbf', 'towns.prj'], { cwd: folder })
  return readFile(join(folder, 'a.zip'))
}

const namesOf = async (datasetId: string, column = 'name') =>
  (await uploads.rows(datasetId, 'sort=fid')).map((row: Record<string, unknown>) => row[column])

const towns: [encoding: string, gdal: string, names: string[]][] = [
  ['utf-8', 'UTF-8', ['Zürich', 'Łódź', '東京']],
  ['windows-1252', 'CP1252', ['Zürich', 'Besançon', 'Málaga']],
  ['windows-1250', 'CP1250', ['Łódź', 'Kraków', 'Gdańsk']],
  ['windows-1251', 'CP1251', ['Москва', 'Казань', 'Новосибирск']],
  ['ibm866', 'CP866', ['Москва', 'Казань', 'Новосибирск']],
  ['cp850', 'CP850', ['Zürich', 'Köln', 'Düsseldorf']],
  ['shift_jis', 'CP932', ['東京都', '大阪府', 'さいたま市']],
]

for (const [encoding, gdal, names] of towns) {
  test(`a Shapefile in ${encoding} that does not say so is read as such, with a warning`, async () => {
    const done = await uploads.upload({ name: 'towns.zip', bytes: await shapefile(names, gdal) })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.deepEqual(await namesOf(done.datasetId), names)
    const warning = done.warnings.find(({ code }: { code: string }) => code === 'encoding_assumed')
    assert.match(warning?.message, new RegExp(`${encoding} was assumed \\("${names[0]}"\\)`))
  })
}

test('a Shapefile of ASCII alone gives no warning about its encoding', async () => {
  const done = await uploads.upload({ name: 'towns.zip', bytes: await shapefile(['Bern', 'Basel'], 'UTF-8') })
  assert.deepEqual(done.warnings, [])
})

test('names of columns beyond ASCII count when the encoding is detected', async () => {
  const bytes = await shapefile(['a', 'b'], 'CP1251', 'название')
  const done = await uploads.upload({ name: 'towns.zip', bytes })
  assert.deepEqual(await namesOf(done.datasetId, 'название'), ['a', 'b'])
})

test('the field encoding goes before what is detected, in a Shapefile and in a CSV', async () => {
  // One name alone could be any of several languages.
  const shape = await shapefile(['Muğla'], 'CP1254')
  const byOption = await uploads.upload({ name: 'towns.zip', bytes: shape }, { encoding: 'Windows-1254' })
  assert.deepEqual(await namesOf(byOption.datasetId), ['Muğla'])
  assert.deepEqual(byOption.warnings, [])
  assert.equal(byOption.options.encoding, 'windows-1254')
  const csv = Buffer.concat([Buffer.from('name,lon,lat\n'), encodedText('Zürich', '850'), Buffer.from(',8,47\n')])
  const table = await uploads.upload({ name: 'towns.csv', bytes: csv }, { encoding: 'CP850' })
  assert.deepEqual(await namesOf(table.datasetId), ['Zürich'])
  assert.deepEqual(table.warnings, [])
})

test('a CSV in another encoding is read by the language of its words, with a warning', async () => {
  const bytes = encodedText('name,lon,lat\nМосква,37,55\nКазань,49,55\n', 'windows-1251')
  const done = await uploads.upload({ name: 'towns.csv', bytes })
  assert.deepEqual(await namesOf(done.datasetId), ['Москва', 'Казань'])
  assert.match(done.warnings[0].message, /windows-1251/)
})

test('an encoding that is not known is refused with examples of those that are', async () => {
  const { status, body } = await uploads.send({ name: 'a.csv', bytes: 'a,b\n1,2\n' }, { encoding: 'klingon' })
  assert.equal(status, 400)
  assert.match(JSON.stringify(body), /body\/encoding.*klingon.*UTF-8, windows-1252/)
})

test('a file that is not in the encoding UTF-8 that was said is not loaded as such', async () => {
  const bytes = encodedText('name,lon,lat\nZürich,8,47\n', 'windows-1252')
  const done = await uploads.upload({ name: 'a.csv', bytes }, { encoding: 'utf-8' })
  assert.equal(done.error.code, 'unsupported_encoding')
  const shape = await uploads.upload(
    { name: 'a.zip', bytes: await shapefile(['Zürich'], 'CP1252') },
    { encoding: 'utf8' },
  )
  assert.equal(shape.warnings[0].code, 'encoding_mismatch')
})
