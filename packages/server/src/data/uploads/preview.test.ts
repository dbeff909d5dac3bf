import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { workbookOf } from '../../../testing/uploads/workbook-of.ts'
import { formOf, type UploadApp, type UploadReply, uploadApp } from '../../../testing/uploads.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

type Fields = Record<string, string>

const dryRun = (name: string, bytes: string | Uint8Array, fields: Fields = {}, key?: string): Promise<UploadReply> =>
  uploads.call('POST', '/api/v1/uploads?dryRun=true', { body: formOf({ name, bytes }, fields) }, key)

async function preview(name: string, bytes: string | Uint8Array, fields: Fields = {}) {
  const { status, body } = await dryRun(name, bytes, fields)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

async function loaded(name: string, bytes: string | Uint8Array, fields: Fields = {}) {
  const done = await uploads.upload({ name, bytes }, fields)
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  return { done, rows: await uploads.rows(done.datasetId) }
}

const typesOf = (layer: { columns: { name: string; type: string }[] }) =>
  Object.fromEntries(layer.columns.map(({ name, type }) => [name, type]))

test('a dry run tells columns, types, geometry, system, rows and warnings as the upload makes them, and makes nothing', async () => {
  const csv = 'PLZ;E;N;Bau\n8001;2683000.5;1247000;31.01.1999\n3011;2600000;1199500;05.06.2001\n'
  const { format, layers, error } = await preview('orte.csv', csv)
  assert.deepEqual([format, error, layers.length], ['csv', {}, 1])
  const [layer] = layers
  assert.deepEqual(typesOf(layer), { PLZ: 'integer', E: 'number', N: 'integer', Bau: 'date' })
  assert.deepEqual(layer.geometry, { type: 'Point', columns: ['E', 'N'], srid: 2056, targetSrid: 4326 })
  assert.deepEqual([layer.name, layer.rowsRead, layer.isWhole], ['orte', 2, true])
  assert.deepEqual(
    layer.warnings.map(({ code }: { code: string }) => code),
    ['srid_assumed', 'local_values'],
  )
  assert.equal((await uploads.call('GET', '/api/v1/uploads')).body.length, 0)
  assert.equal((await uploads.call('GET', '/api/v1/datasets')).body.length, 0)
  assert.deepEqual(await uploads.leftovers(), [])
  const { done, rows } = await loaded('orte.csv', csv)
  assert.deepEqual(done.warnings, layer.warnings)
  const shortly = (all: { geom: { coordinates: number[] } }[]) =>
    all.map((row) => ({ ...row, geom: row.geom.coordinates.map((value) => value.toFixed(6)) }))
  assert.deepEqual(shortly(layer.rows), shortly(rows))
})

test('a dry run of a large file reads its beginning, shows ten rows and says so', async () => {
  const lines = Array.from({ length: 400_000 }, (_, n) => `${n},name of ${n},${(n % 90) + 0.5},${(n % 180) + 0.25}`)
  const csv = Buffer.from(`id,name,lat,lon\n${lines.join('\n')}\n`)
  for (const bytes of [csv, gzipSync(csv)]) {
    const { layers } = await preview('large.csv', bytes)
    assert.equal(layers[0].isWhole, false)
    assert.ok(layers[0].rowsRead >= 1_000 && layers[0].rowsRead <= 10_000, String(layers[0].rowsRead))
    assert.equal(layers[0].rows.length, 10)
    assert.deepEqual(layers[0].rows[1], {
      fid: 2,
      id: 1,
      name: 'name of 1',
      lat: 1.5,
      lon: 1.25,
      geom: { type: 'Point', coordinates: [1.25, 1.5] },
    })
  }
})

test('long values and large geometries are cut in a dry run, and named', async () => {
  const ring = Array.from({ length: 20_000 }, (_, n) => [Math.cos(n / 3183), Math.sin(n / 3183)])
  const feature = {
    type: 'Feature',
    properties: { text: 'x'.repeat(100_000), n: 1 },
    geometry: { type: 'LineString', coordinates: ring },
  }
  const { layers } = await preview('a.geojson', JSON.stringify(feature))
  assert.deepEqual(layers[0].shortened, ['text', 'geom'])
  assert.equal(layers[0].rows[0].text.length, 501)
  assert.equal(layers[0].rows[0].geom, null)
})

test('a dry run tells why an upload would fail', async () => {
  const codes: [string, string | Uint8Array, Fields, string][] = [
    ['a.csv', 'x,y\n385000,6672000\n385100,6672100\n', {}, 'srid_required'],
    ['a.pdf', '%PDF-1.4\n1 0 obj\n', {}, 'unsupported_format'],
    ['a.geojson', '{"type":"FeatureCollection","features":[', {}, 'truncated'],
    ['a.csv', 'lat,lon\n1,2\n', { sourceSrid: '899999' }, 'srid_unknown'],
  ]
  for (const [name, bytes, fields, code] of codes)
    assert.equal((await preview(name, bytes, fields)).error.code, code, code)
})

test('a dry run needs the same rights as the upload, and each layer of a workbook is told', async () => {
  const { status } = await dryRun('a.csv', 'a\n1\n', {}, uploads.tenant.public)
  assert.equal(status, 401)
  const workbook = workbookOf({ one: [['a'], [1]], two: [['b'], ['x']] })
  const { layers } = await preview('book.xlsx', workbook)
  assert.deepEqual(
    layers.map(({ layer, name }: { layer: string; name: string }) => [layer, name]),
    [
      ['one', 'one'],
      ['two', 'two'],
    ],
  )
})

test('geometry, types, dateOrder, decimal and nulls settle what a table is', async () => {
  const csv =
    'id,where,when,price,left,top,code\n1,"[60.17, 24.94]",01.02.2024,"1,234",5,6,007\n2,"[60.45, 22.27]",03.04.2024,"2,500",7,8,NULL\n'
  const plain = await loaded('a.csv', csv)
  assert.equal(plain.done.tileSourceId, null)
  assert.deepEqual(
    plain.done.warnings.map(({ code }: { code: string }) => code),
    ['geometry_not_found', 'null_values', 'ambiguous_values', 'ambiguous_values'],
  )
  const fields = { geometry: 'where:lat,lon', dateOrder: 'mdy', decimal: '.', nulls: 'NULL', types: '{"id":"string"}' }
  const { done, rows } = await loaded('a.csv', csv, fields)
  assert.deepEqual(
    done.warnings.map(({ code }: { code: string }) => code),
    ['local_values', 'local_values'],
  )
  const { geom, where: _, ...values } = rows[0]
  assert.deepEqual(geom.coordinates, [24.94, 60.17])
  assert.deepEqual(values, { fid: 1, id: '1', when: '2024-01-02', price: 1234, left: 5, top: 6, code: '007' })
  assert.equal(rows[1].code, null)
  assert.deepEqual(done.options.types, { id: 'string' })
})

test('fields that do not fit the file are 400 with the columns found, for uploads and dry runs', async () => {
  const csv = 'name,lat,lon,when\nBern,46.95,7.44,01.02.2024\n'
  const cases: [Fields, string, RegExp][] = [
    [
      { geometry: 'lonn,lat' },
      'body/geometry',
      /no column "lonn"\. Did you mean "lon"\? The file has "name", "lat", "lon", "when"/,
    ],
    [{ geometry: 'name' }, 'body/geometry', /"name" holds values such as "Bern", which are no geometries/],
    [{ geometry: 'name,lat' }, 'body/geometry', /"name" holds values such as "Bern", which are no coordinates/],
    [{ geometry: 'lat:up,down' }, 'body/geometry', /Write lat,lon or lon,lat/],
    [{ types: '{"nam":"string"}' }, 'body/types', /no column "nam"\. Did you mean "name"/],
    [{ types: '{"name":"integer"}' }, 'body/types', /"Bern", which is not an integer/],
    [{ types: '{"when":"date"}' }, 'body/types', /Give the field dateOrder/],
    [{ types: '{"name":"colour"}' }, 'body/types/name', /"colour" is not a type of columns/],
    [{ types: 'name' }, 'body/types', /valid JSON/],
    [{ dateOrder: 'ydm' }, 'body/dateOrder', /"dmy" or "mdy" or "ymd"/],
    [{ decimal: ';' }, 'body/decimal', /"," or "\."/],
  ]
  for (const [fields, path, message] of cases) {
    for (const { status, body } of [
      await uploads.send({ name: 'a.csv', bytes: csv }, fields),
      await dryRun('a.csv', csv, fields),
    ]) {
      assert.equal(status, 400, JSON.stringify(fields))
      assert.deepEqual(
        body.errors.map((fault: { path: string }) => fault.path),
        [path],
      )
      assert.match(body.detail, message)
    }
  }
  assert.deepEqual(await uploads.leftovers(), [])
})

test('the geometry of any format is left out by geometry=none, and other fields are refused for formats that say it themselves', async () => {
  const geojson = JSON.stringify({
    type: 'Feature',
    properties: { a: 1 },
    geometry: { type: 'Point', coordinates: [1, 2] },
  })
  const { done, rows } = await loaded('a.geojson', geojson, { geometry: 'none' })
  assert.deepEqual([done.tileSourceId, rows], [null, [{ fid: 1, a: 1 }]])
  const { status, body } = await uploads.send({ name: 'a.geojson', bytes: geojson }, { types: '{"a":"string"}' })
  assert.equal(status, 400)
  assert.match(body.detail, /for tables .* but the file is GeoJSON/)
})

test('a first row that looks like data is data until the client calls it the heading', async () => {
  const csv = 'Bern,7.44,46.95\nThun,7.63,46.76\n'
  const { layers } = await preview('orte.csv', csv)
  assert.deepEqual(typesOf(layers[0]), { column_1: 'string', column_2: 'number', column_3: 'number' })
  assert.deepEqual(
    layers[0].warnings.map(({ code }: { code: string }) => code),
    ['no_heading'],
  )
  const named = await preview('orte.csv', csv, { header: 'true' })
  assert.deepEqual(Object.keys(typesOf(named.layers[0])), ['Bern', '7.44', '46.95'])
  const placed = await preview('orte.csv', csv, { header: 'false', geometry: 'column_2,column_3' })
  assert.deepEqual(placed.layers[0].rows[0].geom.coordinates, [7.44, 46.95])
  const refused = await dryRun('orte.json', '[{"a":1}]', { header: 'true' })
  assert.equal(refused.status, 400)
})
