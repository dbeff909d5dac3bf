import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { mutate, randomOf } from '../../../../../testing/uploads/mutations.ts'
import { readLayer } from '../../../../../testing/uploads/read-back.ts'
import { layersFor, writeLayer } from '../../../../../testing/uploads/source-layers.ts'
import { maxFeatureBytes, ReadFault } from '../reader.ts'
import { tileArchiveKind } from '../sqlite/tile-archive.ts'
import { openGeoPackage } from './geopackage.ts'

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
  using database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  // The triggers of the index call functions that only GDAL has.
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    database.exec(`DROP TRIGGER "${name}"`)
  database.exec(sql)
  return file
}

test('views, virtual tables and generated columns are not run', { timeout: 100_000 }, async () => {
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
      assert.equal(error.position.feature, 2)
      return true
    })
  }
})

test('a value larger than the limit is a fault, in a column as well as in a geometry', async () => {
  for (const column of ['gpkg_geom', 'large']) {
    const sql = `ALTER TABLE points ADD COLUMN large; UPDATE points SET ${column} = zeroblob(${maxFeatureBytes + 1}) WHERE gpkg_fid = 2`
    const file = await altered('points', sql)
    await assert.rejects(read(file), { name: 'ReadFault', code: 'row_too_large' })
  }
})

test('a table that is said to hold points may hold other geometries', async () => {
  const say = "UPDATE gpkg_geometry_columns SET geometry_type_name = 'POINT'"
  for (const name of ['points', 'holes', 'mixed_geometries', 'nulls']) {
    const { scanned, rows } = await read(await altered(name, say))
    const known = await read(await fileOf(name))
    assert.deepEqual({ scanned, rows }, { scanned: known.scanned, rows: known.rows })
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

test('mutated files give faults or rows, never anything else', async () => {
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

const endless = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT'

/** Rewrites a file's own list of its tables, as nobody but an attacker does. */
async function forged(name: string, sql: string): Promise<string> {
  const file = await fileOf(name)
  using database = new DatabaseSync(file, { defensive: false })
  database.exec(`PRAGMA writable_schema = ON; ${sql}`)
  return file
}

test('a register of the GeoPackage that is a view, virtual or forged is refused at once', {
  timeout: 100_000,
}, async () => {
  const contents = `${endless} 'points' AS table_name, 'features' AS data_type, x FROM r`
  const doubling = Array.from({ length: 40 }, (_, n) => `CREATE VIEW d${n + 1} AS SELECT a.x FROM d${n} a, d${n} b;`)
  const files = {
    'a view': await altered('points', `DROP TABLE gpkg_contents; CREATE VIEW gpkg_contents AS ${contents}`),
    'a view of views that double': await altered(
      'points',
      `DROP TABLE gpkg_contents; CREATE VIEW d0 AS SELECT 1 AS x; ${doubling.join('')}
       CREATE VIEW gpkg_contents AS SELECT x AS table_name, x AS data_type FROM d40`,
    ),
    'a virtual table': await altered(
      'points',
      `ALTER TABLE gpkg_contents RENAME TO c; CREATE VIRTUAL TABLE gpkg_contents USING fts5(table_name, data_type)`,
    ),
    'geometry columns that are a view': await altered(
      'points',
      `DROP TABLE gpkg_geometry_columns; CREATE VIEW gpkg_geometry_columns AS ${endless} 'points' AS table_name, 'geom' AS column_name, x AS srs_id FROM r`,
    ),
    'reference systems that are a view': await altered(
      'points',
      `DROP TABLE gpkg_spatial_ref_sys; CREATE VIEW gpkg_spatial_ref_sys AS ${endless} x AS srs_id, '' AS organization, 1 AS organization_coordsys_id, '' AS definition FROM r WHERE x < 0`,
    ),
    'a view that says it is a table': await forged(
      'points',
      `UPDATE sqlite_schema SET sql = 'CREATE VIEW gpkg_contents AS ${contents.replaceAll("'", "''")}', rootpage = 0 WHERE name = 'gpkg_contents'`,
    ),
    'a table of another name, and a view of this one': await forged(
      'points',
      `UPDATE sqlite_schema SET sql = replace(sql, 'gpkg_contents', 'gpkg_content_') WHERE name = 'gpkg_contents' AND type = 'table';
       DELETE FROM sqlite_schema WHERE type <> 'table';
       INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW gpkg_contents AS ${contents.replaceAll("'", "''")}')`,
    ),
  }
  for (const [what, file] of Object.entries(files)) {
    await assert.rejects(read(file), (error) => {
      assert.ok(error instanceof ReadFault, `${what}: ${error}`)
      assert.equal(error.code, 'invalid_file', what)
      return true
    })
  }
})

test('a feature table that is forged into a view is not run', { timeout: 100_000 }, async () => {
  const file = await forged(
    'points',
    `UPDATE sqlite_schema SET sql = 'CREATE VIEW points AS ${endless} x FROM r', rootpage = 0 WHERE name = 'points' AND type = 'table'`,
  )
  await assert.rejects(read(file), { name: 'ReadFault' })
})

test('columns that are called like the row number do not make reading quadratic', { timeout: 100_000 }, async () => {
  const rows = 200_000
  const file = await altered(
    'points_3d',
    `CREATE TABLE plain (rowid INTEGER, value TEXT);
     WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${rows}) INSERT INTO plain SELECT ${rows} - n, 'x' FROM r;
     CREATE TABLE hiding (rowid INTEGER, oid INTEGER, _rowid_ INTEGER);
     INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('plain', 'attributes', 'a'), ('hiding', 'attributes', 'b')`,
  )
  const { scanned } = await read(file, 'plain')
  assert.equal(scanned.featureCount, rows)
  await assert.rejects(read(file, 'hiding'), { name: 'ReadFault', code: 'invalid_file' })
})

test('a GeoPackage that lists very many tables is refused', { timeout: 100_000 }, async () => {
  const file = await altered(
    'points_3d',
    `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000)
       INSERT INTO gpkg_contents (table_name, data_type, identifier) SELECT 't' || n, 'features', 't' || n FROM r`,
  )
  await assert.rejects(read(file), { name: 'ReadFault', code: 'invalid_file' })
})
