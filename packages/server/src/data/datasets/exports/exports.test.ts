import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { duckdbRows } from '../../../../../driver-duckdb/testing/read-parquet.ts'
import {
  asHex,
  asJsonText,
  assertSameRows,
  type Changes,
  inMilliseconds,
  notFinite,
} from '../../../../testing/exports/compare-exports.ts'
import {
  type ExportApp,
  type ExportedFeature,
  type ExportedGeometry,
  exportApp,
  gdalFeatures,
  gdalInfo,
} from '../../../../testing/exports/exports.ts'
import { answerFormats, type FormatName, formatNames } from '../../../query/formats/answer-formats.ts'

let app: ExportApp
before(async () => {
  app = await exportApp()
})
after(() => app.close())

const files = formatNames.filter((name) => !['json', 'geojson', 'csv'].includes(name))
const pathFor = (path: string): string => (path.endsWith('.zip') ? `/vsizip/${path}` : path)
const save = (format: FormatName, query: string, id?: string): Promise<string> =>
  app.save(`a.${answerFormats[format].extension}`, `format=${format}&${query}`, id)
const byId = (features: ExportedFeature[]): ExportedFeature[] =>
  features.toSorted((a, b) => Number(a.properties.id) - Number(b.properties.id))

/** JSON writes NaN as text, and GDAL leaves it out of the GeoJSON that it makes for us. */
const doubles: Changes = { real: notFinite, small: notFinite }
const long = 'a "quoted", <name> & more'

describe('an export equals the JSON answer row for row', () => {
  test('as GDAL reads FlatGeobuf', async () => {
    const day = (value: unknown) => `${value}T00:00:00`
    const times = { day, at: inMilliseconds, local: inMilliseconds }
    const features = await gdalFeatures(await save('fgb', 'sort=id'))
    assertSameRows(features, await app.rows(), { ...doubles, ...times, raw: asHex, doc: asJsonText })
  })

  test('as GDAL reads GeoPackage, whose times are in UTC and milliseconds', async () => {
    const path = await save('gpkg', 'sort=id')
    const local = (value: unknown) => `${inMilliseconds(value)}Z`
    const changes = { ...doubles, at: inMilliseconds, local, raw: asHex, doc: asJsonText }
    assertSameRows(await gdalFeatures(path), await app.rows(), changes)
    assert.match(await gdalInfo(path), /\nbig: Integer64.*\nreal: Real.*\n(.*\n)*day: Date .*\nat: DateTime .*\n/)
    // By the R-tree, which GDAL uses for a box.
    const inBox = await gdalFeatures(path, '-spat', '7', '46', '8', '47')
    assert.deepEqual(
      inBox.map(({ properties }) => properties.id),
      [1],
    )
  })

  test('as GDAL reads KML', async () => {
    const flag = (value: unknown) => Number(value)
    const features = await gdalFeatures(await save('kml', 'sort=id'))
    assertSameRows(features, await app.rows(), { ...doubles, flag, doc: asJsonText })
  })

  test('as GDAL reads a GeoJSON text sequence', async () => {
    const path = await save('ndjson', 'sort=id')
    const rows = await app.rows()
    assert.deepEqual(
      (await gdalFeatures(path)).map(({ geometry }) => geometry ?? null),
      rows.map(({ geom }) => geom),
    )
    const text = (await app.get(app.query('format=ndjson&sort=id'))).body
    const features = text
      .split('\u001e')
      .slice(1)
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      features.map(({ geometry, properties }) => ({ ...properties, geom: geometry })),
      rows,
    )
  })

  test('as GDAL reads a Shapefile, a layer for each kind of shape', async () => {
    const path = pathFor(await save('shp', 'sort=id'))
    const layers = [...(await gdalInfo(path)).matchAll(/Layer name: (.*)\n/g)].map(([, name]) => name)
    assert.deepEqual(
      layers.toSorted(),
      ['line', 'multipoint', 'point', 'polygon'].map((kind) => `every_thing_${kind}`),
    )
    const features = byId(await gdalFeatures(path)).map(({ geometry, properties }) => ({
      geometry,
      properties: { ...properties, [long]: properties['a "quoted"'], flag: logical[String(properties.flag)] },
    }))
    const orNull = (value: unknown) => (value === '' ? undefined : value)
    assertSameRows(features, await app.rows(), { ...doubles, raw: orNull, [long]: orNull, doc: asJsonText })
  })

  test('as GDAL reads a workbook, times within a millisecond', async () => {
    const features = await gdalFeatures(await save('xlsx', 'sort=id'))
    const rows = await app.rows()
    const wkt = await wktCells()
    const found = features.map(({ properties }, index) => ({
      geometry: (properties.geom ?? null) === wkt[index] ? (rows[index]?.geom as null) : null,
      properties: {
        ...properties,
        ...Object.fromEntries(['day', 'at', 'local'].map((name) => [name, instantOf(properties[name])])),
        time: properties.time && String(properties.time).replace(/\.?0+$/, ''),
      },
    }))
    const instants = { day: instantOf, at: instantOf, local: instantOf }
    const time = (value: unknown) => String(value).replace(/\.?0+$/, '')
    const orNull = (value: unknown) => (value === '' ? undefined : value)
    assertSameRows(found, rows, { ...instants, time, raw: orNull, [long]: orNull, doc: asJsonText })
  })

  test('as DuckDB reads GeoParquet, with decimals, times and bytes of their own types', async () => {
    const path = await save('parquet', 'sort=id')
    const select = `SELECT * EXCLUDE (bbox) REPLACE (hex(raw) AS raw, epoch_us("at") AS "at", epoch_us("local") AS "local",
      geom::VARCHAR AS geom), bbox FROM read_parquet('${path}')`
    const rows = await app.rows()
    const found = (await duckdbRows(select)).map(({ geom, bbox, ...properties }, index) => {
      assert.equal(bbox === null, geom === null)
      const isSame = spaceless(geom as string | null) === spaceless(wktOf(rows[index]?.geom as ExportedGeometry | null))
      return { geometry: isSame ? (rows[index]?.geom as null) : null, properties }
    })
    assertSameRows(found, rows, { at: microsecondsOf, local: microsecondsOf, raw: asHex, doc: asJsonText })
    const types = await duckdbRows(
      `SELECT column_type AS type FROM (DESCRIBE SELECT long, uid, day, time, big FROM read_parquet('${path}'))`,
    )
    assert.deepEqual(
      types.map(({ type }) => type),
      ['DECIMAL(30,5)', 'UUID', 'DATE', 'TIME', 'BIGINT'],
    )
    const [key] = await duckdbRows(`SELECT decode(value) AS geo FROM parquet_kv_metadata('${path}')`)
    const { version, columns } = JSON.parse(String(key?.geo))
    assert.deepEqual(
      [version, columns.geom.bbox, columns.geom.covering.bbox.xmax],
      ['1.1.0', [0, -10, 180, 46.25], ['bbox', 'xmax']],
    )
  })
})

const logical: Readonly<Record<string, boolean>> = { T: true, F: false }

const instantOf = (value: unknown): number | undefined => {
  if (value === null || value === undefined) return undefined
  const text = String(value).replaceAll('/', '-').replace(' ', 'T').replace(/Z$/, '')
  // GDAL rounds what Excel has as a part of a day.
  return Math.round(Date.parse(text.includes('T') ? `${text}Z` : text) / 10) + 0
}

function microsecondsOf(value: unknown): number {
  const [, whole = '', fraction = ''] = /^([^.Z]*)(?:\.(\d+))?Z?$/.exec(String(value)) ?? []
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0'))
}

const spaceless = (text: string | null): string | null => text?.replaceAll(/[() ,]+/g, ' ').trim() ?? null

/** Type and numbers of a geometry, as in WKT. */
const wktOf = (geometry: ExportedGeometry | null): string | null =>
  geometry && `${geometry.type.toUpperCase()} ${(geometry.coordinates as number[]).flat(9).join(' ')}`

/** The geometries as CSV has them. */
async function wktCells(): Promise<(string | null)[]> {
  const text = (await app.get(app.query('format=csv&sort=id&attributes=geom'))).body
  return text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => (line === '' ? null : line.replaceAll('"', '')))
}

describe('an export', () => {
  for (const format of files) {
    test(`of no rows is a valid file: ${format}`, async () => {
      const path = await save(format, 'filter[id]=-1')
      if (format === 'parquet') return assert.deepEqual(await duckdbRows(`SELECT * FROM read_parquet('${path}')`), [])
      // An empty text is an empty sequence, and no file to GDAL.
      if (format === 'ndjson') return assert.equal((await app.get(app.query('format=ndjson&filter[id]=-1'))).body, '')
      // GDAL shows no layer of an empty document, and takes the headings of a sheet without rows for a row.
      const seen = format === 'kml' ? /LIBKML/ : format === 'xlsx' ? /Feature Count: 1\n/ : /Feature Count: 0\n/
      assert.match(await gdalInfo(pathFor(path)), seen)
    })
  }

  test('has the filters, attributes, order and limit of its query, in both forms of it', async () => {
    const path = await save('fgb', 'filter[id][$gte]=2&sort=-id&limit=3&attributes=id')
    const simple = await gdalFeatures(path)
    assert.deepEqual(
      simple.map(({ properties }) => properties),
      [{ id: 7 }, { id: 6 }, { id: 5 }],
    )
    assert.equal(simple[0]?.geometry?.type, 'MultiPoint')
    const body = { group: ['flag'], attributes: ['flag', 'count(*) as n'], order: ['n'] }
    const reply = await app.app.http.inject({
      method: 'POST',
      url: app.query('format=parquet'),
      headers: { 'x-api-key': app.tenant.developer },
      payload: body,
    })
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.rawPayload.toString('latin1', 0, 4), 'PAR1')
  })

  test('is in the reference system that srid asks for, where the format can say so', async () => {
    for (const format of ['fgb', 'gpkg', 'shp'] as const) {
      const path = pathFor(await save(format, 'srid=3857&filter[id]=1'))
      const info = await gdalInfo(path)
      assert.match(info, /Pseudo-Mercator|3857/i, format)
      assert.match(info, /Extent: \(834896\.18\d+, 5820502\.80\d+\)/, format)
    }
    for (const format of ['kml', 'parquet', 'ndjson'] as const) {
      const reply = await app.get(app.query(`format=${format}&srid=3857`))
      assert.equal(reply.statusCode, 400)
      assert.match(reply.body, /query\/srid: must not be given with .*always in 4326/)
    }
  })

  test('keeps heights, and second geometries as GeoJSON', async () => {
    await app.script(`
      CREATE TABLE high (id int4 PRIMARY KEY, geom geometry(PointZ, 4326), other geometry(Point, 4326));
      INSERT INTO high VALUES (1, ST_GeomFromText('POINT Z (1 2 3)', 4326), ST_Point(4, 5, 4326))`)
    const id = await app.dataset({ name: 'high', source: 'high' })
    for (const format of ['fgb', 'gpkg', 'shp', 'kml'] as const) {
      const [feature] = await gdalFeatures(pathFor(await save(format, '', id)))
      assert.deepEqual(feature?.geometry?.coordinates, [1, 2, 3], format)
      assert.deepEqual(feature?.properties.other, { type: 'Point', coordinates: [4, 5] }, format)
    }
    const path = await save('parquet', '', id)
    const [row] = await duckdbRows(`SELECT geom::VARCHAR AS geom, other::VARCHAR AS other FROM read_parquet('${path}')`)
    assert.deepEqual(row, { geom: 'POINT Z (1 2 3)', other: 'POINT (4 5)' })
  })

  test('is named after the dataset, or as filename says, and known by Accept', async () => {
    const accept = answerFormats.gpkg.mediaTypes[0]
    const reply = await app.get(app.query('filter[id]=1'), { accept })
    assert.equal(reply.headers['content-type'], accept)
    assert.equal(reply.headers['content-disposition'], 'attachment; filename=every-thing.gpkg')
    const named = await app.get(app.query('format=xlsx&filter[id]=1&filename=b.xlsx'))
    assert.equal(named.headers['content-disposition'], 'attachment; filename=b.xlsx')
  })

  test('refuses what pages need, because a file has no next one', async () => {
    for (const [query, path] of [
      ['count=exact', 'query/count'],
      ['cursor=', 'query/cursor'],
    ]) {
      const reply = await app.get(app.query(`format=gpkg&${query}`))
      assert.equal(reply.statusCode, 400)
      assert.equal(JSON.parse(reply.body).errors[0].path, path)
    }
  })
})
