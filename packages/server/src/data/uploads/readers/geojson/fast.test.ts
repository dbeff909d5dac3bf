import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  createRandom,
  decimals,
  hugeIntegers,
  integers,
  pick,
  type Random,
  smallIntegers,
} from '../../../../../testing/uploads/random.ts'
import { allocate } from '../../../../query/geometry/encoding/byte-writer.ts'
import { createGeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { type EncodedColumn, geometryColumnType, ReadFault } from '../reader.ts'
import type { TextCursor } from './cursor.ts'
import { readAlike } from './fast.ts'
import { createFeature } from './feature.ts'
import { openGeoJson } from './geojson.ts'
import { readFeature } from './read-feature.ts'

const { signal } = new AbortController()
let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geojson-pattern-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

const exponents = ['1e5', '-1E-7', '1e400', '1e-400', '1.5e+3', '12e22']
const texts = [
  '""',
  '"a"',
  '"é😀"',
  '"\\u0041\\n"',
  '"\\""',
  '"\\u0000"',
  '"12"',
  `"${'x'.repeat(150)}"`,
  '"\\ud800"',
  '"],}"',
]
const dates = ['"2020-01-31"', '"2020/02/29"', '"2021-02-29"', '"0001-01-01"']
const moments = ['"2020-01-01T10:00:00Z"', '"2020-01-01 10:00:00.5"', '"10:20:30"']
const others = ['true', 'false', 'null', '{}', '[1, {"a":"\\u0000"}]', '{"x":1e5}']
const wrong = ['01', '+5', '1.', '.5', '-', '1e', '1e99999', 'nul', '"\n"', 'NaN', '{,}', '0x10', '--1', '1.2.3']
const classes = [
  smallIntegers,
  integers,
  hugeIntegers,
  decimals,
  exponents,
  texts,
  dates,
  moments,
  others,
  ['true', 'false'],
  ['null'],
]

/** Those of points that are written without being made, mostly. */
const plainClasses = [
  smallIntegers,
  [...smallIntegers, ...decimals],
  texts,
  dates.slice(0, 2),
  ['true', 'false', 'null'],
]

const ordinates = [...integers, ...decimals, '1e5', '5', '6.25', '1.5e+3']

function randomGeometry(random: Random, type: string): string {
  const number = () => (random() < 0.003 ? pick(random, [...wrong, 'null', '1e400']) : pick(random, ordinates))
  const blank = () => (random() < 0.05 ? pick(random, [' ', '\n', '\t ']) : '')
  const position = () => `[${times(random() < 0.05 ? 3 : 2, number).join(`${blank()},${blank()}`)}]`
  const list = (item: () => string, least: number) =>
    `[${times(least + Math.floor(random() * 4), item).join(`,${blank()}`)}]`
  const ring = () => {
    const start = position()
    return `[${[start, '[1000,2]', '[3,4000]', ...(random() < 0.9 ? [start] : [])].join()}]`
  }
  const makers: Record<string, () => string> = {
    Point: () => (random() < 0.03 ? '[]' : position()),
    LineString: () => list(position, 2),
    Polygon: () => list(ring, 1),
    MultiPoint: () => list(position, 0),
    MultiLineString: () => list(() => list(position, 1), 0),
    MultiPolygon: () => list(() => list(ring, 1), 0),
  }
  if (random() < 0.03)
    return pick(random, ['null', '{}', `{"type":"${type}"}`, '{"type":"GeometryCollection","geometries":[]}'])
  const members = [`"type":"${type}"`, `"coordinates":${makers[type]?.()}`]
  if (random() < 0.02) members.push('"bbox":[1,2]')
  if (random() < 0.03) members.reverse()
  return `{${members.join(`,${blank()}`)}}`
}

/** Features that are mostly alike. */
function randomDocument(random: Random): string {
  const isPlain = random() < 0.5
  const keys = ['a', 'b', 'é', 'long key', 'k\\"', 'id'].slice(0, 1 + Math.floor(random() * (isPlain ? 4 : 6)))
  const classOf = new Map(keys.map((key) => [key, pick(random, isPlain ? plainClasses : classes)]))
  const plainType = isPlain ? 'Point' : undefined
  const type =
    plainType ?? pick(random, ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'])
  const comma = pick(random, [',', ', ', ',\n  '])
  const hasId = random() < (isPlain ? 0.05 : 0.3)
  const isReversed = random() < 0.3
  const oddity = pick(random, [0, 0.02, 0.2])
  const feature = () => {
    const odd = () => random() < oddity
    const value = (key: string) =>
      pick(random, odd() ? (random() < 0.02 ? wrong : pick(random, classes)) : (classOf.get(key) ?? []))
    const own = odd() ? [...keys, 'extra'].sort(() => random() - 0.5).slice(0, 4) : keys
    const properties = own.map((key) => `"${key}":${odd() ? ' ' : ''}${value(key)}`)
    if (odd()) properties.push(...properties.slice(0, 1))
    const members = [
      '"type":"Feature"',
      ...(hasId ? [`"id":${pick(random, [...integers, '"x"'])}`] : []),
      `"properties":${odd() ? 'null' : `{${properties.join(comma)}}`}`,
      `"geometry":${randomGeometry(random, odd() ? pick(random, ['Point', 'MultiPoint', 'Polygon']) : type)}`,
      ...(odd() ? ['"properties":{"b":1}', '"more":[1]'].slice(Math.floor(random() * 2)) : []),
    ]
    if (isReversed || odd()) members.reverse()
    return `{${members.join(comma)}}`
  }
  const features = times(2 + Math.floor(random() * 12), feature)
  const shape = Math.floor(random() * 4)
  if (shape === 0) return features.join('\n')
  if (shape === 1) return `[${features.join(',')}]`
  return `${shape === 2 ? '\ufeff' : ''}{"type":"FeatureCollection","features":[${features.join(',\n')}]}`
}

/** What the reader makes of the file; without looking how features are written, when that is not wanted. */
async function rowsOf(file: string, window: number, isFast: boolean): Promise<unknown> {
  const reader = openGeoJson(file, { fileName: 'file', window, isFast })
  try {
    const layer = await reader.scan('file', { signal })
    const columns: EncodedColumn[] = [
      { kind: 'fid' },
      ...layer.fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
      { kind: 'geometry', srid: 4326, hasZ: layer.hasZ, isMulti: geometryColumnType(layer.geometryTypes).isMulti },
    ]
    let rows = ''
    for await (const chunk of reader.encode('file', columns, { signal })) rows += chunk.toString('hex')
    return { rows, layer }
  } catch (error) {
    if (!(error instanceof ReadFault)) throw error
    return { code: error.code, message: error.message, position: error.position }
  }
}

async function compare(text: string, windows: readonly number[], label: string): Promise<boolean> {
  const file = join(directory, 'file')
  await writeFile(file, text)
  const expected = await rowsOf(file, 1_000_000, false)
  for (const window of windows) {
    assert.deepEqual(await rowsOf(file, window, true), expected, `${label}, window ${window}: ${text}`)
  }
  return expected !== null && typeof expected === 'object' && 'rows' in expected
}

const rounds = 500

test(`${rounds} random documents give the same rows and faults with a layout as without`, async () => {
  let good = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const random = createRandom(seed + 5e6)
    const windows = [pick(random, [16, 48, 100, 300]), 1_000_000]
    if (await compare(randomDocument(random), windows, `seed ${seed}`)) good++
  }
  assert.ok(good > rounds / 2, `only ${good} were read`)
})

test('features are the same wherever the window ends', async () => {
  const feature = (n: number) =>
    `{"type":"Feature","id":${n},"properties":{"a":${n}.5,"b":"é\\n${n}","c":null},"geometry":{"type":"LineString","coordinates":[[${n}.25,1],[-2,3.125]]}}`
  const text = `{"type":"FeatureCollection","features":[${times(6, feature).join(',\n')}]}`
  assert.ok(
    await compare(
      text,
      times(Buffer.byteLength(text), (n) => n + 8),
      'all windows',
    ),
  )
})

test('points are the same wherever the window ends', async () => {
  const values = (n: number) => [
    `"whole":${n - 3}`,
    `"part":${n}.25`,
    `"word":"é${n}"`,
    `"day":"2020-01-0${n + 1}"`,
    `"is":${n % 2 === 0}`,
  ]
  const feature = (n: number) =>
    `{"type":"Feature","properties":{${values(n).map((value, index) => ((n + index) % 7 ? value : value.replace(/:.*/, ':null')))}},"geometry":{"type":"Point","coordinates":[${n}.25, -${n}]}}`
  for (const text of [
    `{"type":"FeatureCollection","features":[\n${times(8, feature).join(',\n')}]}`,
    times(8, feature).join('\n'),
  ]) {
    const windows = times(Buffer.byteLength(text), (n) => n + 8)
    assert.ok(await compare(text, windows, 'all windows'))
  }
})

const point = (n: number) => ({ type: 'Point', coordinates: [n, -n - 0.5] })
const properties = (n: number) => ({ a: n, b: `é ${n}`, c: n % 2 ? null : '2020-01-31' })
const layouts: Record<string, (n: number) => string> = {
  compact: (n) => JSON.stringify({ type: 'Feature', properties: properties(n), geometry: point(n) }),
  'geometry first': (n) => JSON.stringify({ type: 'Feature', geometry: point(n), properties: properties(n) }),
  indented: (n) => JSON.stringify({ type: 'Feature', id: n, properties: properties(n), geometry: point(n) }, null, 2),
  'of Windows': (n) =>
    JSON.stringify({ type: 'Feature', properties: properties(n), geometry: point(n) }, null, '\t').replaceAll(
      '\n',
      '\r\n',
    ),
  'of ogr2ogr': (n) =>
    `{ "type": "Feature", "properties": { "a": ${n}, "b": "é" }, "geometry": { "type": "Point", "coordinates": [ ${n}, 2.5 ] } }`,
  'with the types last and foreign members': (n) =>
    `{"bbox":[${n},2,3,4],"geometry":{"bbox":[${n}],"coordinates":[${n},2],"type":"Point"},"more":{"b":${n}},"properties":{"a":"\\u00fc${n}"},"type":"Feature"}`,
  'without a geometry': (n) => `{"type":"Feature","properties":{"a":${n}},"geometry":null}`,
  'with no geometry and properties': (n) => `{"type":"Feature","id":${n}}`,
}

const createCursor = (): TextCursor => ({ ...allocate(4096), at: 0, end: 0, isLast: false, hasPoint: false })

for (const [name, write] of Object.entries(layouts)) {
  test(`features that are written ${name} are read by the layout of the first`, () => {
    const cursor = createCursor()
    const feature = createFeature(createGeometryWriter(), true)
    const put = (text: string) => {
      cursor.at = 0
      cursor.end = cursor.bytes.write(`${text}\n\0`) - 1
    }
    put(write(0))
    readFeature(cursor, feature)
    put(write(1))
    assert.ok(readAlike(cursor, feature))
    assert.equal(cursor.at, Buffer.byteLength(write(1)))
  })
}

test('a property that never followed another is read by the layout too', () => {
  const cursor = createCursor()
  const feature = createFeature(createGeometryWriter(), true)
  const write = (own: object) => JSON.stringify({ type: 'Feature', properties: own, geometry: point(1) })
  for (const own of [
    { a: 1, d: 1 },
    { a: 1, c: 2, b: 3, d: 4 },
    { a: 1, new: 2, b: 3, d: 4 },
  ]) {
    cursor.at = 0
    cursor.end = cursor.bytes.write(`${write(own)}\0`) - 1
    const isAlike = readAlike(cursor, feature)
    assert.equal(isAlike, Object.keys(own).length > 2)
    cursor.at = 0
    if (!isAlike) readFeature(cursor, feature)
  }
  assert.deepEqual(feature.fields.names, ['a', 'd', 'c', 'b', 'new'])
})
