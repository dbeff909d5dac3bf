import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { ReadFault } from '../reader.ts'
import { openGeoJson } from './geojson.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geojson-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(text: string | Buffer, window?: number) {
  const file = join(directory, 'file')
  await writeFile(file, text)
  return rowsOfReader(
    openGeoJson(file, window === undefined ? { fileName: 'a.geojson' } : { fileName: 'a.geojson', window }),
  )
}

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
const feature = (properties: unknown, geometry: unknown = point(1, 2), more = {}) => ({
  type: 'Feature',
  properties,
  geometry,
  ...more,
})
const collection = (...features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features })

async function typesOf(...values: unknown[]) {
  const { layer, rows } = await read(
    `{"type":"FeatureCollection","features":[${values.map((value) => `{"type":"Feature","geometry":null,"properties":{"a":${value}}}`).join()}]}`,
  )
  return [layer.fields[0]?.type, ...rows.map(({ values: { a } }) => a)]
}

test('one feature, a list, lines, record separators and bare geometries are all read', async () => {
  const one = JSON.stringify(feature({ a: 1 }))
  const shapes = [
    one,
    `[${one},${one}]`,
    `${one}\n${one}\r\n\n${one}`,
    `\x1e${one}\n\x1e${one}\n`,
    `\ufeff${collection(feature({ a: 1 }))}`,
    JSON.stringify(point(1, 2)),
    `${JSON.stringify(point(1, 2))}\n${one}`,
  ]
  for (const [index, shape] of shapes.entries()) {
    const { rows } = await read(shape)
    assert.deepEqual(rows[0]?.geometry, point(1, 2), shape)
    assert.equal(rows.length, [1, 2, 3, 2, 1, 1, 2][index])
  }
})

test('types are the narrowest that lose nothing', async () => {
  assert.deepEqual(await typesOf('1', '-2147483648', 'null'), ['integer', 1, -2147483648, null])
  assert.deepEqual(await typesOf('1', '2147483648'), ['bigint', 1n, 2147483648n])
  assert.deepEqual(await typesOf('9007199254740993', '-9223372036854775808'), [
    'bigint',
    9007199254740993n,
    -9223372036854775808n,
  ])
  assert.deepEqual(await typesOf('123456789012345678901234567890', '1'), [
    'text',
    '123456789012345678901234567890',
    '1',
  ])
  assert.deepEqual(await typesOf('1', '1.5', '1e3', '-0.25'), ['number', 1, 1.5, 1000, -0.25])
  assert.deepEqual(await typesOf('9007199254740993', '1.5'), ['text', '9007199254740993', '1.5'])
  assert.deepEqual(await typesOf('true', 'false'), ['boolean', true, false])
  assert.deepEqual(await typesOf('true', '1'), ['text', 'true', '1'])
  assert.deepEqual(await typesOf('"1"', '2'), ['text', '1', '2'])
  assert.deepEqual(await typesOf('{"b":[1,"\\u0000"]}', '1', '"x"'), ['json', { b: [1, '\ufffd'] }, 1, 'x'])
  assert.deepEqual(await typesOf('"2020-02-29"', '"1600-03-01"'), ['date', '2020-02-29', '1600-03-01'])
  assert.deepEqual(await typesOf('"2021-02-29"'), ['text', '2021-02-29'])
  assert.deepEqual(await typesOf('"2020-02-29"', '"2020-01-01T10:00:00.5"'), [
    'timestamp',
    '2020-02-29T00:00:00.000',
    '2020-01-01T10:00:00.500',
  ])
  assert.deepEqual(await typesOf('"2020-01-01T10:00:00+02:00"'), ['timestamptz', '2020-01-01T08:00:00.000Z'])
  assert.deepEqual(await typesOf('"2020-01-01T10:00:00Z"', '"2020-01-01"'), [
    'text',
    '2020-01-01T10:00:00Z',
    '2020-01-01',
  ])
  assert.deepEqual(await typesOf('"a\\u0000\\n\\ud83d\\ude00\\""'), ['text', 'a\ufffd\n😀"'])
  assert.deepEqual(await typesOf('1e400', '1'), ['text', '1e400', '1'])
  assert.deepEqual(await typesOf('null'), ['text', null])
})

test('geometry of every type is kept, Z included, and broken ones become null with a warning', async () => {
  const ring = [
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 0],
  ]
  const geometries = [
    {
      type: 'LineString',
      coordinates: [
        [1.5, -2e-3],
        [123456789.12345678, 0.1],
      ],
    },
    {
      type: 'Polygon',
      coordinates: [
        ring,
        [
          [1, 1],
          [2, 1],
          [2, 2],
          [1, 1],
        ],
      ],
    },
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
    { type: 'MultiPolygon', coordinates: [[ring]] },
    { type: 'GeometryCollection', geometries: [point(1, 2), { type: 'LineString', coordinates: [] }] },
    { type: 'Point', coordinates: [] },
  ]
  const { rows, layer } = await read(collection(...geometries.map((geometry) => feature({}, geometry))))
  assert.deepEqual(
    rows.map(({ geometry }) => geometry),
    geometries,
  )
  assert.equal(layer.geometryTypes.size, 7)
  assert.deepEqual(layer.extent, [0, -2e-3, 123456789.12345678, 4])
  assert.equal(rows[0]?.srid, 4326)

  const { rows: high } = await read(collection(feature({}, { type: 'Point', coordinates: [1, 2, 3, 4] }), feature({})))
  assert.deepEqual(
    high.map(({ geometry }) => geometry),
    [
      { type: 'Point', coordinates: [1, 2, 3] },
      { type: 'Point', coordinates: [1, 2, 0] },
    ],
  )

  const open = {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [4, 0],
        [4, 4],
      ],
    ],
  }
  const broken = [
    { type: 'LineString', coordinates: [[1, 2]] },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    { type: 'Point', coordinates: [null, null] },
    { type: 'Point', coordinates: 'abc' },
    { type: 'Point' },
    { type: 'Circle', coordinates: [1, 2] },
    { coordinates: [1, 2] },
  ]
  const mixed = await read(collection(feature({}, open), ...broken.map((geometry) => feature({}, geometry))))
  assert.deepEqual(
    mixed.rows.map(({ geometry }) => geometry),
    [{ type: 'Polygon', coordinates: [ring] }, ...broken.map(() => null)],
  )
  assert.deepEqual(
    mixed.layer.warnings.map(({ code, count }) => [code, count]),
    [['invalid_geometry', broken.length]],
  )
})

test('a ring there and back is kept beside the other areas of its feature', async () => {
  const area = [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ]
  const splinter = [
    [
      [5, 5],
      [6, 6],
      [5, 5],
    ],
  ]
  const { layer, rows } = await read(collection(feature({}, { type: 'MultiPolygon', coordinates: [area, splinter] })))
  const widened = [[...(splinter[0] ?? []), [5, 5]]]
  assert.deepEqual(rows[0]?.geometry, { type: 'MultiPolygon', coordinates: [area, widened] })
  assert.deepEqual(layer.extent, [0, 0, 6, 6])
})

test('single geometries are made multi where both occur', async () => {
  const { rows } = await read(collection(feature({}), feature({}, { type: 'MultiPoint', coordinates: [[3, 4]] })))
  assert.deepEqual(
    rows.map(({ geometry }) => geometry),
    [
      { type: 'MultiPoint', coordinates: [[1, 2]] },
      { type: 'MultiPoint', coordinates: [[3, 4]] },
    ],
  )
})

test('members may come in any order, and the reference system before or after the features', async () => {
  const crs = '"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::28992"}}'
  const features =
    '"features":[{"geometry":{"bbox":[1,2],"coordinates":[1,2],"type":"Point"},"id":7,"properties":{"a":1},"type":"Feature"}]'
  for (const text of [
    `{${crs},${features},"type":"FeatureCollection"}`,
    `{${features},"type":"FeatureCollection",${crs}}`,
  ]) {
    const { layer, rows } = await read(text)
    assert.equal(layer.srid, 28992)
    assert.deepEqual(rows[0]?.values, { a: 1, id: 7 })
    assert.deepEqual(rows[0]?.geometry, point(1, 2))
  }
})

test('properties that a feature has twice are those given last, and the first have no say in the types', async () => {
  const twice = '{"type":"Feature","geometry":null,"properties":{"a":"x"},"properties":{"b":1}}'
  const once = '{"type":"Feature","geometry":null,"properties":{"a":7}}'
  const { layer, rows } = await read(`[${twice},${once}]`)
  assert.deepEqual(
    layer.fields.map(({ name, type }) => [name, type]),
    [
      ['a', 'integer'],
      ['b', 'integer'],
    ],
  )
  assert.deepEqual(
    rows.map(({ values }) => values),
    [
      { a: null, b: 1 },
      { a: 7, b: null },
    ],
  )
})

test('an id is a field, called feature_id where a property has its name, and of repeated keys the last counts', async () => {
  const { rows } = await read(collection(feature({ ID: 1 }, null, { id: 'x' })))
  assert.deepEqual(rows[0]?.values, { ID: 1, feature_id: 'x' })
  const { rows: repeated } = await read('{"type":"Feature","geometry":null,"properties":{"a":"x","a":2}}')
  assert.deepEqual(repeated[0]?.values, { a: 2 })
})

async function faultOf(text: string | Buffer): Promise<string> {
  return read(text).then(
    () => 'none',
    (error) => (error instanceof ReadFault ? error.code : String(error)),
  )
}

test('what is no GeoJSON is told by a code before anything is loaded', async () => {
  const whole = collection(feature({ a: 'x', b: [1, { c: null }] }), feature({ a: 1.5 }))
  for (let cut = 1; cut < whole.length; cut += 3)
    assert.equal(await faultOf(whole.slice(0, cut)), 'truncated', whole.slice(0, cut))
  assert.equal(await faultOf('{"type":"Topology"}'), 'wrong_format')
  assert.equal(await faultOf('{"a":1}'), 'wrong_format')
  assert.equal(await faultOf('[1,2]'), 'wrong_format')
  assert.equal(await faultOf(collection(feature({ a: 1 })).replace('1', '01')), 'invalid_json')
  assert.equal(await faultOf(`${whole}x`), 'invalid_json')
  const deep = (depth: number) =>
    `{"type":"Feature","geometry":null,"properties":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
  assert.equal(await faultOf(deep(100_000)), 'invalid_json')
  assert.equal(await faultOf(deep(400)), 'none')
  const wide = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`f${index}`, 1]))
  assert.equal(await faultOf(collection(feature(wide))), 'too_many_columns')
})

test('a feature too large for memory is refused', async () => {
  const text = `{"type":"Feature","geometry":null,"properties":{"a":"${'x'.repeat(70 * 1024 * 1024)}"}}`
  assert.equal(await faultOf(text), 'feature_too_large')
})
