import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { zipOf } from '../../../../../testing/uploads/zip-of.ts'
import { openReader } from '../open-reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'text-tables-'))
})
after(() => rm(directory, { recursive: true }))

async function open(files: Readonly<Record<string, string | Buffer>>) {
  const own = await mkdtemp(join(directory, 'own-'))
  const entries = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }))
  await writeFile(join(own, 'a.zip'), zipOf(entries))
  const { signal } = new AbortController()
  return openReader(join(own, 'a.zip'), { fileName: 'a.zip', directory: own, signal, allowNativeGdal: false })
}

const stops =
  'stop_id,stop_name,stop_lat,stop_lon\n8503000,"Zürich HB",47.3782,8.5402\n8507000,"Bern, Bahnhof",46.9488,7.4391\n'
const prose =
  'This data set was made by the office of statistics, with care, in 2024.\nIt holds stops, routes, and trips.\n\nWrite to us, please.\n'

test('the tables of a timetable (GTFS) are layers, and what is written beside them is not', async () => {
  const reader = await open({
    'feed/agency.txt': 'agency_id,agency_name\n1,SBB\n',
    'feed/stops.txt': `\ufeff${stops}`,
    'feed/routes.txt': 'route_id\troute_short_name\n1\tIC 1\n',
    'feed/readme.txt': prose,
  })
  assert.deepEqual(await reader.layers(), ['agency', 'stops', 'routes'])
  const { rows, layer } = await rowsOfReader(reader, 'stops')
  assert.deepEqual(
    rows.map(({ geometry, values }) => [values.stop_name, geometry]),
    [
      ['Zürich HB', { type: 'Point', coordinates: [8.5402, 47.3782] }],
      ['Bern, Bahnhof', { type: 'Point', coordinates: [7.4391, 46.9488] }],
    ],
  )
  assert.deepEqual(layer.warnings, [])
  await reader.close()
})

test('a file of an archive that is not read is named in a warning', async () => {
  const reader = await open({ 'stops.csv': stops, 'notes.txt': prose, 'more.xyz': '1 2 3', 'licence.txt': prose })
  assert.deepEqual(await reader.layers(), ['stops'])
  const { layer } = await rowsOfReader(reader)
  const [warning, ...others] = layer.warnings
  assert.equal(others.length, 0)
  assert.equal(warning?.code, 'files_ignored')
  assert.match(warning.message, /"notes\.txt", "more\.xyz"/)
  await reader.close()
})

test('a table in UTF-16 that is called .txt is one, and a poem is none', async () => {
  const reader = await open({
    'a.txt': Buffer.from(stops, 'utf16le'),
    'b.txt': 'Roses are red,\nviolets are blue,\nsugar is sweet,\n',
  })
  assert.deepEqual(await reader.layers(), ['a'])
  assert.equal((await rowsOfReader(reader)).rows.length, 2)
  await reader.close()
})
