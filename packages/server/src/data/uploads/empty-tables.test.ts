import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { formats, gdal } from '../../../testing/uploads/source-layers.ts'
import { workbookOf } from '../../../testing/uploads/workbook-of.ts'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

async function upload(name: string, bytes: string | Uint8Array) {
  const { body, status } = await uploads.send({ name, bytes })
  assert.equal(status, 200, JSON.stringify(body))
  return uploads.ended(body.id)
}

const attributesOf = async (datasetId: string): Promise<string[]> => {
  const { body } = await uploads.call('GET', `/api/v1/datasets/${datasetId}`)
  return body.attributes.map(({ name }: { name: string }) => name)
}

const empties: readonly (readonly [name: string, bytes: string, attributes: readonly string[]])[] = [
  ['a.geojson', '{"type":"FeatureCollection","features":[]}', ['fid', 'geom']],
  ['a.csv', 'name,value\n', ['fid', 'name', 'value']],
  ['b.csv', 'name,lat,lon\n', ['fid', 'name', 'lat', 'lon', 'geom']],
  ['a.json', '[]', ['fid', 'geom']],
  ['b.json', '{"data":[]}', ['fid']],
  ['c.json', '{"count":0,"next":null,"results":[ ]}', ['fid']],
  ['a.tsv', 'name\tvalue\n', ['fid', 'name', 'value']],
  ['a.gpx', '<?xml version="1.0"?><gpx version="1.1"/>', ['fid', 'geom']],
  [
    'a.topojson',
    '{"type":"Topology","arcs":[],"objects":{"a":{"type":"GeometryCollection","geometries":[]}}}',
    ['fid', 'geom'],
  ],
  ['a.kml', '<?xml version="1.0"?><kml><Document/></kml>', ['fid', 'geom']],
]

for (const [name, bytes, attributes] of empties) {
  test(`an empty ${name.slice(2)} file of ${attributes.join(', ')} makes an empty table, with a warning`, async () => {
    const ended = await upload(name, bytes)
    assert.equal(ended.status, 'completed', JSON.stringify(ended))
    assert.deepEqual(
      ended.warnings.map(({ code }: { code: string }) => code),
      ['empty_layer'],
    )
    const { datasetId } = ended.results[0]
    assert.deepEqual(await attributesOf(datasetId), attributes)
    assert.deepEqual(await uploads.rows(datasetId), [])
  })
}

const byGdal = ['geopackage', 'flatgeobuf', 'shapefile', 'tab', 'mif', 'filegdb', 'gml'] as const

for (const format of byGdal) {
  test(`an empty layer of ${format} makes an empty table, with a warning`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'empty-'))
    t.after(() => rm(directory, { recursive: true }))
    const ended = await upload(`a.${formats[format].extension}`, await emptyLayer(format, directory))
    assert.equal(ended.status, 'completed', JSON.stringify(ended))
    assert.ok(ended.warnings.some(({ code }: { code: string }) => code === 'empty_layer'))
    const { datasetId } = ended.results[0]
    assert.deepEqual(await uploads.rows(datasetId), [])
    // Without features GML says no columns, and a .tab no geometry.
    const columns = ['fid', ...(format === 'gml' ? [] : ['name']), ...(format === 'tab' ? [] : ['geom'])]
    assert.deepEqual(await attributesOf(datasetId), columns)
  })
}

/** A layer of points with a column `name`, written by GDAL. */
async function emptyLayer(format: (typeof byGdal)[number], directory: string): Promise<Buffer> {
  const source = join(directory, 'source.csv')
  await writeFile(source, 'WKT,name\nPOINT (1 2),x\n')
  const { driver, extension, options } = formats[format]
  const isApart = format === 'tab' || format === 'mif'
  const target = join(directory, isApart ? 'apart' : `a.${extension.replace(/^gdb.zip/, 'gdb')}`)
  const empty = ['-where', "name = 'none'", '-select', 'name', '-nlt', 'POINT', '-a_srs', 'EPSG:4326']
  await gdal('ogr2ogr', ['-f', driver, ...options, ...empty, '-nln', 'a', target, source])
  if (!(await stat(target)).isDirectory()) return readFile(target)
  const entries = (await readdir(target)).map(async (name) => ({
    name: isApart ? name : `a.gdb/${name}`,
    content: await readFile(join(target, name)),
  }))
  return zipOf(await Promise.all(entries))
}

test('a workbook with a heading alone makes an empty table, with a warning', async () => {
  const ended = await upload('a.xlsx', workbookOf({ Sheet: [['name', 'lat', 'lon']] }))
  assert.equal(ended.status, 'completed', JSON.stringify(ended))
  assert.ok(ended.warnings.some(({ code }: { code: string }) => code === 'empty_layer'))
  assert.deepEqual(await attributesOf(ended.results[0].datasetId), ['fid', 'name', 'lat', 'lon', 'geom'])
})

test('an object with an attribute that is an empty list is refused, and is not taken for an empty table', async () => {
  const { status } = await upload('a.json', '{"name":"x","tags":[]}')
  assert.equal(status, 'failed')
})

test('a collection of GML whose members are not known is refused, and is not taken for an empty one', async () => {
  const member = '<gml:featureMember><a:b xmlns:a="urn:a"/></gml:featureMember>'
  const collection = `<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">${member}</gml:FeatureCollection>`
  const { status } = await upload('a.gml', collection)
  assert.equal(status, 'failed')
})

test('an empty table beside others is left out, with a warning', async () => {
  const files = { 'a.csv': 'name,value\nx,1\n', 'b.csv': 'name,value\n' }
  const entries = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }))
  const ended = await upload('ab.zip', zipOf(entries))
  assert.equal(ended.status, 'completed', JSON.stringify(ended))
  assert.equal(ended.results.length, 1)
  assert.deepEqual(
    ended.warnings.map(({ code, layer }: { code: string; layer: string }) => [code, layer]),
    [['empty_layer', 'b']],
  )
})

/** Written by pyarrow: decimal128(9,2), (26,6), (16,0), a timestamp of nanoseconds, and a structure with a decimal. */
const decimals =
  'UEFSMRUAFRwVLiwVBhUAFQYVBhwAAAAotS/9IA5xAAACAAAAAwMHW80V////+xUAFU4VWCwVBhUAFQYVBhwAAAAotS/9ICcdAQDoAgAAAAYBCjZMmCJ+qmrcusCtSC0jN/MtHAAAAQABAG3ACRUAFSgVOiwVBhUAFQYVBhwAAAAotS/9IBShAAACAAAAAwUEYtU8irrA/////////xUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAAAwMVzcAIFxCmFwDKwAgXEKYXFQAVOhVMLBUGFQAVBhUGHAAAACi1L/0gHekAAAMAAAADIgAAAAAAAAEfcfsEUAAAAAAAAAAAAYagFQQZfDUAGAZzY2hlbWEVCgAVDhUIFQIYBXByaWNlJQoVBBUSLFwVBBUSAAAAFQ4VFhUCGARsb25nJQoVDBU0LFwVDBU0AAAAFQ4VDhUCGAJpZCUKFQAVICxcFQAVIAAAABUEJQIYBG5hbm9sjBIcPAAAAAAANQIYBm5lc3RlZBUCABUOFRYVAhgBYSUKFQwVNCxcFQwVNAAAABYGGRwZXCYAHBUOGSUGABkYBXByaWNlFQwWBhZCFlQmCEkcFQAVABUCADwpBhkmAgQAAAAmABwVDhklBgAZGARsb25nFQwWBhZ0Fn4mXEkcFQAVABUCADwpBhkmAAYAAAAmABwVDhklBgAZGAJpZBUMFgYWThZgJtoBSRwVABUAFQIAPCkGGSYCBAAAACYAHBUEGSUGABkYBG5hbm8VDBYGFlIWZCa6AkkcFQAVABUCADwpBhkmAgQAAAAmABwVDhklBgAZKAZuZXN0ZWQBYRUMFgYWYBZyJp4DSRwVABUAFQIAPCkGGTYCAAQAAAAWtgMWBiYIFogEACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZXBwAABwAABwAABwAABwAAADHAQAAUEFSMQ=='

test('decimals of Parquet are answered with all their digits', async () => {
  const ended = await upload('decimals.parquet', Buffer.from(decimals, 'base64'))
  assert.equal(ended.status, 'completed', JSON.stringify(ended))
  const rows = await uploads.rows(ended.results[0].datasetId, 'sort=fid')
  assert.deepEqual(
    rows.map(({ price, long, id }: Record<string, unknown>) =>
      [price, long, id].map((value) => value && String(value)),
    ),
    [
      ['1234567.89', '12345678901234567890.123456', '1234567890123456'],
      ['-0.05', '-99999999999999999999.999999', null],
      [null, rows[2].long && String(rows[2].long), '-1'],
    ],
  )
})
