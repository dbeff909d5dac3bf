import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { mutate, randomOf } from '../testing/mutations.ts'
import { readLayer } from '../testing/read-back.ts'
import { layersFor, writeLayer } from '../testing/source-layers.ts'
import { openGeoPackage } from './geopackage.ts'
import { ReadFault } from './reader.ts'
import { tileArchiveKind } from './tile-archive.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geopackage-'))
})
after(() => rm(directory, { recursive: true }))

async function read(file: string, layer?: string) {
  const reader = await openGeoPackage(file)
  try {
    return await readLayer(reader, layer ?? (await reader.layers())[0] ?? '')
  } finally {
    await reader.close()
  }
}

async function fileOf(name: string): Promise<string> {
  const layer = layersFor('geopackage').find((known) => known.name === name)
  assert.ok(layer)
  return writeLayer(layer, 'geopackage', await mkdtemp(join(directory, 'made-')))
}

async function altered(name: string, sql: string): Promise<string> {
  const file = await fileOf(name)
  using database = new DatabaseSync(file)
  // The triggers of the index call functions that only GDAL has.
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER "${name}"`)
  database.exec(sql)
  return file
}

test('views, virtual tables and generated columns are not run', { timeout: 10_000 }, async () => {
  const endless = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r'
  const file = await altered(
    'points',
    `CREATE VIEW evil AS ${endless};
     INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('evil', 'attributes', 'evil');
     ALTER TABLE points ADD COLUMN big AS (zeroblob(900000000))`,
  )
  const reader = await openGeoPackage(file)
  assert.deepEqual(await reader.layers(), ['points'])
  await reader.close()
  const { scanned } = await read(file)
  assert.ok(!scanned.fields.some(({ name }) => name === 'big'))
})

test('a column holds what its values are, whatever it declares', async () => {
  const file = await altered(
    'points_3d',
    `ALTER TABLE points_3d ADD COLUMN wild INTEGER; ALTER TABLE points_3d ADD COLUMN raw BLOB;
     ALTER TABLE points_3d ADD COLUMN day DATE; ALTER TABLE points_3d ADD COLUMN flag BOOLEAN;
     UPDATE points_3d SET wild = 'text' WHERE z = 2; UPDATE points_3d SET wild = 7 WHERE z = 1;
     UPDATE points_3d SET raw = x'00ff', day = 'some day', flag = 5`,
  )
  const { scanned, rows } = await read(file)
  const types = Object.fromEntries(scanned.fields.map(({ name, type }) => [name, type]))
  assert.deepEqual(types, { z: 'integer', wild: 'text', raw: 'binary', day: 'text', flag: 'integer' })
  assert.deepEqual(rows[0]?.properties, { z: 1, wild: '7', raw: '00ff', day: 'some day', flag: 5 })
})

test('a reference system without a code is given by its definition', async () => {
  const file = await altered(
    'british',
    `UPDATE gpkg_spatial_ref_sys SET organization = 'NONE', definition = 'PROJCS["own"]' WHERE srs_id = 27700`,
  )
  const { scanned } = await read(file)
  assert.equal(scanned.srid, undefined)
  assert.equal(scanned.wkt, 'PROJCS["own"]')
})

test('a geometry that is none is a fault that names the feature', async () => {
  for (const value of [
    "x'00'",
    "'text'",
    "x'4750000100000000'",
    "x'47500001000000000101'",
    "x'4750000100000000017f000000'",
  ]) {
    const file = await altered('points_3d', `UPDATE points_3d SET gpkg_geom = ${value} WHERE gpkg_fid = 2`)
    await assert.rejects(read(file), (error) => {
      assert.ok(error instanceof ReadFault)
      assert.equal(error.code, 'invalid_file')
      assert.equal(error.place.feature, 2)
      return true
    })
  }
})

test('rows whose numbers do not grow are a fault, none is left out silently', async () => {
  const file = await altered(
    'points_3d',
    `CREATE TABLE plain (fid INTEGER PRIMARY KEY, name TEXT);
     WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60)
       INSERT INTO plain SELECT n, 'the row ' || n || '.' FROM r;
     INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('plain', 'attributes', 'plain')`,
  )
  assert.equal((await read(file, 'plain')).rows.length, 60)
  const bytes = await readFile(file)
  // Before the text lie the row's number and a header of three bytes.
  const numberAt = bytes.indexOf('the row 20.') - 4
  assert.equal(bytes[numberAt], 20)
  bytes[numberAt] = 100
  await writeFile(file, bytes)
  await assert.rejects(read(file, 'plain'), { name: 'ReadFault', code: 'invalid_file' })
})

test('the file is not touched, and nothing appears beside it', async () => {
  const file = await fileOf('holes')
  const bytes = await readFile(file)
  await read(file)
  assert.deepEqual(await readFile(file), bytes)
  assert.deepEqual(await readdir(join(file, '..')), ['holes.gpkg'])
})

test('mutated files give faults or rows, never anything else', { timeout: 100_000 }, async () => {
  const random = randomOf(17)
  for (const name of ['holes', 'mixed_geometries', 'dates']) {
    const file = await fileOf(name)
    const bytes = await readFile(file)
    for (let round = 0; round < 250; round++) {
      await writeFile(file, mutate(bytes, random))
      await read(file).catch((error) => assert.ok(error instanceof ReadFault, `${name} ${round}: ${error?.stack}`))
    }
  }
})

test('tile archives are told from databases', async () => {
  const file = join(directory, 'tiles')
  {
    using database = new DatabaseSync(file)
    database.exec('CREATE TABLE metadata (name, value); CREATE VIEW tiles AS SELECT 1')
  }
  assert.equal(await tileArchiveKind(file), 'mbtiles')
  assert.equal(await tileArchiveKind(await fileOf('points')), undefined)
  await writeFile(file, 'PMTiles\x03 and so on')
  assert.equal(await tileArchiveKind(file), 'pmtiles')
  await writeFile(file, 'short')
  assert.equal(await tileArchiveKind(file), undefined)
})
