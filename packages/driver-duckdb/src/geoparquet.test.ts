import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { patientMs, rowsOf, type TestFolder, testDriver, testFolder } from '../testing/folder.ts'
import type { DuckdbTable } from './messages.ts'

const options = { timeoutMs: patientMs }
const points = `SELECT range AS id, ('POINT(' || range || ' ' || range + 40 || ')')::GEOMETRY AS geom FROM range(10)`

/** PROJJSON as writers make it, as far as it matters here. */
const utm = {
  type: 'ProjectedCRS',
  name: 'ETRS89 / UTM zone 32N',
  base_crs: { id: { authority: 'EPSG', code: 4258 } },
  id: { authority: 'EPSG', code: 25832 },
}

/** A file with this `geo` key over rows whose geometry is WKB in a BLOB, or whatever `geometry` says. */
async function writeWithKey(
  folder: TestFolder,
  file: string,
  geo: unknown,
  geometry = 'ST_AsWKB(geom)',
): Promise<void> {
  const key = (typeof geo === 'string' ? geo : JSON.stringify(geo)).replaceAll("'", "''")
  const select = `SELECT id, ${geometry} AS geom, {'xmin': id, 'ymin': id + 40, 'xmax': id, 'ymax': id + 40} AS bbox FROM (${points})`
  await folder.write(file, select, `(FORMAT parquet, KV_METADATA {geo: '${key}'})`)
}

const geo = (column: object): object => ({ version: '1.1.0', primary_column: 'geom', columns: { geom: column } })

const geometryOf = (tables: readonly DuckdbTable[], name: string) =>
  tables.find((table) => table.name === name)?.columns.find(({ name }) => name === 'geom')

describe('GeoParquet', () => {
  test('tells rows, type, system, extent and the covering of its geometry without reading rows', async (t) => {
    const folder = testFolder(t)
    await folder.write('v1.parquet', points, `(GEOPARQUET_VERSION 'V1')`)
    await folder.write('native.parquet', points, `(GEOPARQUET_VERSION 'V2')`)
    const paths = Object.fromEntries(['xmin', 'ymin', 'xmax', 'ymax'].map((edge) => [edge, ['bbox', edge]]))
    const column = { encoding: 'WKB', geometry_types: ['Point', 'MultiPoint'], crs: utm, covering: { bbox: paths } }
    await writeWithKey(folder, 'covered.parquet', geo({ ...column, bbox: [0, 40, 9, 49] }))
    await writeWithKey(folder, 'counted.parquet', geo(column))
    await writeWithKey(folder, 'unlocated.parquet', geo({ encoding: 'WKB', geometry_types: ['Point'], crs: null }))
    await writeWithKey(
      folder,
      'odd.parquet',
      geo({ encoding: 'WKB', geometry_types: [], crs: { ...utm, id: { authority: 'ESRI', code: 54009 } } }),
    )
    await writeWithKey(folder, 'round.parquet', geo({ encoding: 'WKB', geometry_types: ['Point'], edges: 'spherical' }))
    const database = testDriver(t).at(folder)
    const { tables, refused } = await database.tables(options)
    assert.deepEqual(refused, [])
    assert.ok(tables.every(({ rows }) => rows === 10))
    const extent = [0, 40, 9, 49]
    assert.deepEqual(
      Object.fromEntries(
        tables.map(({ name }) => [name, [geometryOf(tables, name)?.dbType, geometryOf(tables, name)?.geometry]]),
      ),
      {
        v1: ['GEOMETRY(OGC:CRS84)', { type: 'Point', dimension: 2, srid: 4326, extent }],
        native: ['GEOMETRY(OGC:CRS84)', { type: 'Point', dimension: 2, srid: 4326, extent, hasGroupBoxes: true }],
        covered: ['GEOMETRY(EPSG:25832)', { type: 'Geometry', dimension: 2, srid: 25832, extent, covering: paths }],
        counted: ['GEOMETRY(EPSG:25832)', { type: 'Geometry', dimension: 2, srid: 25832, extent, covering: paths }],
        unlocated: ['GEOMETRY', { type: 'Point', dimension: 2, srid: 0 }],
        odd: ['GEOMETRY(ESRI:54009)', { type: 'Geometry', dimension: 2, srid: 0, system: 'ESRI:54009' }],
        round: ['GEOMETRY(OGC:CRS84)', { type: 'Point', dimension: 2, srid: 4326, edges: 'spherical' }],
      },
    )
    for (const { name } of tables) {
      const where = `geom && 'POLYGON((3 43, 5 43, 5 45, 3 45, 3 43))'::GEOMETRY`
      assert.deepEqual(
        await rowsOf(database, `SELECT id FROM ${name} WHERE ${where} ORDER BY id`),
        [['3'], ['4'], ['5']],
        name,
      )
    }
    const [found] = await database.describe('SELECT geom AS g FROM covered', options)
    assert.deepEqual([found?.dbType, found?.geometry?.srid], ['GEOMETRY(EPSG:25832)', 25832])
  })

  test('in GeoArrow’s encodings becomes geometry', async (t) => {
    const folder = testFolder(t)
    const p = (x: number, y: number): string => `{'x': ${x}::DOUBLE, 'y': ${y}::DOUBLE}`
    const shapes = {
      point: [p(1, 2), 'POINT (1 2)'],
      linestring: [`[${p(1, 2)}, ${p(3, 4.5)}]`, 'LINESTRING (1 2, 3 4.5)'],
      multipoint: [`[${p(1, 2)}]`, 'MULTIPOINT (1 2)'],
      polygon: [`[[${p(0, 0)}, ${p(1, 0)}, ${p(1, 1)}, ${p(0, 0)}]]`, 'POLYGON ((0 0, 1 0, 1 1, 0 0))'],
      multilinestring: [`[[${p(1, 2)}, ${p(3, 4)}]]`, 'MULTILINESTRING ((1 2, 3 4))'],
      multipolygon: [`[[[${p(0, 0)}, ${p(1, 0)}, ${p(1, 1)}, ${p(0, 0)}]]]`, 'MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))'],
    }
    for (const [encoding, [value = '']] of Object.entries(shapes)) {
      await writeWithKey(
        folder,
        `${encoding}.parquet`,
        geo({ encoding, geometry_types: [], crs: utm }),
        `CASE WHEN id > 0 THEN ${value} END`,
      )
    }
    await writeWithKey(
      folder,
      'high.parquet',
      geo({ encoding: 'point', geometry_types: ['Point Z'] }),
      `{'x': 1::DOUBLE, 'y': 1e-7::DOUBLE, 'z': 'nan'::DOUBLE}`,
    )
    await writeWithKey(folder, 'wrong.parquet', geo({ encoding: 'polygon', geometry_types: [] }), p(1, 2))
    const database = testDriver(t).at(folder)
    const { tables, refused } = await database.tables(options)
    assert.deepEqual(refused, [
      { file: 'wrong.parquet', reason: 'The column "geom" is called polygon but has another form.' },
    ])
    for (const [encoding, [, wkt]] of Object.entries(shapes)) {
      assert.equal(geometryOf(tables, encoding)?.geometry?.srid, 25832, encoding)
      assert.deepEqual(
        await rowsOf(database, `SELECT ST_AsText(geom) FROM ${encoding} WHERE id < 2 ORDER BY id`),
        [[null], [wkt]],
        encoding,
      )
    }
    // The file's system is the answer's, although DuckDB has none for it.
    const [column] = await database.describe('SELECT geom FROM point', options)
    assert.equal(column?.geometry?.srid, 25832)
  })

  test('whose metadata mean harm or nothing is refused in words', async (t) => {
    const folder = testFolder(t)
    const files: { readonly [file: string]: readonly [geo: unknown, reason: RegExp, geometry?: string] } = {
      'text.parquet': [geo({ encoding: 'WKB' }), /the column "geom" is called WKB but holds no bytes/, `'POINT(1 2)'`],
      'number.parquet': [geo({ encoding: 'WKB' }), /the column "geom" is called WKB but holds no bytes/, 'id'],
      'wkt.parquet': [geo({ encoding: 'WKT' }), /has the encoding "WKT", which is unknown/, `'POINT(1 2)'`],
      'crs.parquet': [geo({ encoding: 'WKB', crs: 'EPSG:25832' }), /its reference system as text; it must be PROJJSON/],
      'absent.parquet': [
        { version: '1.0.0', columns: { shape: { encoding: 'WKB' } } },
        /the column "shape" is not in the file/,
      ],
      'json.parquet': ['{"version":', /is no JSON object with columns/],
      'null.parquet': ['null', /is no JSON object with columns/],
      'list.parquet': [geo([]), /Geoparquet column 'geom' is not an object/],
    }
    for (const [file, [key, , geometry]] of Object.entries(files)) await writeWithKey(folder, file, key, geometry)
    const driver = testDriver(t)
    const { tables, refused } = await driver.at(folder).tables(options)
    assert.deepEqual(tables, [])
    for (const { file, reason } of refused) assert.match(reason, files[file]?.[1] ?? /^$/, file)
    assert.equal(refused.length, Object.keys(files).length)
    assert.deepEqual(driver.errors, [])
  })
})
