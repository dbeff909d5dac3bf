import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { patientMs, rowsOf, testDriver, testFolder } from '../testing/folder.ts'

const options = { timeoutMs: patientMs }

test('Parquet, CSV, JSON and DuckDB files of a folder are tables that answer the same rows', async (t) => {
  const folder = testFolder(t)
  const rows = `SELECT range::BIGINT AS id, 'name ' || range AS name, range % 2 = 0 AS even FROM range(3)`
  await folder.write('points.parquet', rows)
  await folder.write('Points of Interest.csv', rows)
  await folder.write('list.json', rows)
  await folder.run(`ATTACH '{path}/town.duckdb' AS town`, `CREATE TABLE town.main.Roads AS ${rows}`)
  const database = testDriver(t).at(folder)
  const { tables, refused } = await database.tables(options)
  assert.deepEqual(refused, [])
  assert.deepEqual(
    tables.map(({ name, file, format, rows }) => ({ name, file, format, rows })),
    [
      { name: 'points_of_interest', file: 'Points of Interest.csv', format: 'csv', rows: null },
      { name: 'list', file: 'list.json', format: 'json', rows: null },
      { name: 'points', file: 'points.parquet', format: 'parquet', rows: 3 },
      { name: 'town_roads', file: 'town.duckdb', format: 'duckdb', rows: 3 },
    ],
  )
  for (const { name, columns } of tables) {
    assert.deepEqual(
      columns.map(({ name, type }) => `${name} ${type}`),
      ['id integer', 'name string', 'even boolean'],
      name,
    )
    assert.deepEqual(
      await rowsOf(database, `SELECT * FROM ${name} WHERE id >= $1::BIGINT ORDER BY id`, ['1']),
      [
        ['1', 'name 1', 'false'],
        ['2', 'name 2', 'true'],
      ],
      name,
    )
  }
})

test('files that would have one name get longer ones, whatever their case', async (t) => {
  const folder = testFolder(t)
  for (const file of ['roads.csv', 'roads.parquet', 'Ünder.csv', 'under.csv', 'UNDER.csv', '1st.csv', 'pg_class.csv']) {
    await folder.write(file, 'SELECT 1 AS a')
  }
  const { tables, refused } = await testDriver(t).at(folder).tables(options)
  assert.deepEqual(refused, [])
  const names = tables.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter((name) => !name.startsWith('under')),
    ['t_1st', 't_pg_class', 'roads_csv', 'roads_parquet'],
  )
  assert.match(names.join(' '), /under_csv_[0-9a-f]{8}/)
})

test('GeoJSON, links, empty and broken files are refused in words, and the others are served', async (t) => {
  const folder = testFolder(t)
  const outside = testFolder(t)
  await folder.write('good.parquet', 'SELECT 42 AS answer')
  await outside.write('secret.csv', 'SELECT 1 AS a')
  symlinkSync(outside.path('secret.csv'), folder.path('link.csv'))
  writeFileSync(folder.path('a.geojson'), '{"type":"FeatureCollection","features":[]}')
  writeFileSync(
    folder.path('b.json'),
    '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{}}]}',
  )
  writeFileSync(folder.path('empty.csv'), '')
  writeFileSync(folder.path('broken.parquet'), 'PAR1 is not enough PAR1')
  writeFileSync(folder.path('broken.duckdb'), 'nothing')
  const database = testDriver(t).at(folder)
  const { tables, refused } = await database.tables(options)
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['good'],
  )
  assert.deepEqual(refused.map(({ file }) => file).sort(), [
    'a.geojson',
    'b.json',
    'broken.duckdb',
    'broken.parquet',
    'empty.csv',
    'link.csv',
  ])
  for (const { reason } of refused) assert.ok(!reason.includes(folder.directory), reason)
  assert.match(refused.find(({ file }) => file === 'b.json')?.reason ?? '', /^GeoJSON is not read here/)
  assert.deepEqual(await rowsOf(database, 'SELECT answer FROM good'), [['42']])
  await assert.rejects(rowsOf(database, 'SELECT * FROM link'), { code: 'refused' })
})

test('a folder that does not exist is told as such', async (t) => {
  const folder = testFolder(t)
  const database = testDriver(t).open({ tenant: 't', id: 'a', directory: folder.path('nowhere') })
  await assert.rejects(database.tables(options), { code: 'folder', message: 'The folder does not exist.' })
})
