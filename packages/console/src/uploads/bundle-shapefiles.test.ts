import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { unzip } from '../../../server/src/data/uploads/readers/zip/zip.ts'
import { bundleShapefiles } from './bundle-shapefiles.ts'

const file = (name: string, text = name) => new File([text], name)
const names = (files: readonly File[]) => files.map(({ name }) => name)

test('the files of a Shapefile are sent as one archive that the server can read, others as they are', async () => {
  const long = 'größe '.repeat(50_000)
  const bundled = await bundleShapefiles([
    ...[file('Straßen.shp', long), file('towns.geojson'), file('Straßen.dbf', ''), file('Straßen.shp.xml')],
    ...[file('lakes.SHP'), file('lakes.DBF')],
  ])
  assert.deepEqual(names(bundled), ['towns.geojson', 'Straßen.zip', 'lakes.zip'])
  const folder = await mkdtemp(join(tmpdir(), 'graticule-zip-'))
  const archive = join(folder, 'a.zip')
  await writeFile(archive, new Uint8Array(await (bundled[1] as File).arrayBuffer()))
  // Sums that are not right are refused.
  const entries = await unzip(archive, folder)
  const texts = await Promise.all(entries.map(async ({ name, path }) => [name, await readFile(path, 'utf8')]))
  await rm(folder, { recursive: true })
  assert.deepEqual(texts, [
    ['Straßen.shp', long],
    ['Straßen.dbf', ''],
    ['Straßen.shp.xml', 'Straßen.shp.xml'],
  ])
})

test('a lone part of a Shapefile, and tables that only end like one, are sent as they are', async () => {
  const files = [file('roads.shp'), file('people.dbf'), file('people.cpg')]
  assert.deepEqual(names(await bundleShapefiles(files)), ['roads.shp', 'people.dbf', 'people.cpg'])
})
