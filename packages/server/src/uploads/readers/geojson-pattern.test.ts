import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createRandom, decimals, hugeIntegers, integers, pick, type Random, smallIntegers } from '../testing/random.ts'
import { createRowWriter, takeChunk } from './copy-binary.ts'
import type { Cursor } from './geojson-cursor.ts'
import { encodeFeature, rowForm } from './geojson-encode.ts'
import { createFeature } from './geojson-feature.ts'
import { readFile } from './geojson-file.ts'
import { quickPoints, type TakeFeatures } from './geojson-quick.ts'
import { createFindings, foundFields, observe } from './geojson-scan.ts'
import { type EncodedColumn, geometryColumnType, ReadFault } from './reader.ts'
import { createGeometryWriter } from './wkb.ts'

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

/** How many features were written without being made. */
let taken = 0

/** Reads the file as it is read by the reader; without patterns when they are not to be learned, and then nothing is quick. */
async function rowsOf(file: string, window: number, lessonsLeft: number): Promise<unknown> {
  const open = (columns: readonly EncodedColumn[], names?: Parameters<typeof createFeature>[1]) => {
    const feature = createFeature(createGeometryWriter(columns.find(({ kind }) => kind === 'geometry') as never), names)
    feature.patterns.lessonsLeft = lessonsLeft
    return feature
  }
  try {
    const scanned = open([])
    const findings = createFindings()
    const facts = { count: 0, crs: undefined }
    for await (const _ of readFile(file, scanned, ({ bytes }) => observe(findings, scanned, bytes, 1), {
      signal,
      facts,
      window,
    }));
    const { fields, places } = foundFields(findings, scanned.fields.names)
    const { isMulti } = geometryColumnType(findings.geometryTypes)
    const columns: EncodedColumn[] = [
      { kind: 'fid' },
      ...fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
      { kind: 'geometry', srid: 4326, hasZ: findings.hasZ, isMulti },
    ]
    const feature = open(columns, scanned.fields)
    const writer = createRowWriter()
    const row = rowForm(columns, places)
    const loaded = createFindings(findings)
    const visit = ({ bytes, view }: Cursor) => {
      observe(loaded, feature, bytes, 1)
      encodeFeature(writer, row, feature, { bytes, view }, loaded.featureCount)
    }
    const take = quickPoints({ feature, findings: loaded, writer, row, isBounded: false })
    const takeFeatures: TakeFeatures = (cursor, hasComma) => {
      const count = take(cursor, hasComma)
      taken += count
      return count
    }
    const again = { count: 0, crs: undefined }
    for await (const _ of readFile(file, feature, visit, { signal, facts: again, takeFeatures, window }));
    assert.deepEqual({ ...loaded, isNews: true }, { ...findings, isNews: true })
    assert.equal(again.count, facts.count)
    return { rows: takeChunk(writer, true)?.toString('hex'), findings, fields, count: facts.count }
  } catch (error) {
    if (!(error instanceof ReadFault)) throw error
    return { code: error.code, message: error.message, place: error.place }
  }
}

async function compare(text: string, windows: readonly number[], label: string): Promise<boolean> {
  const file = join(directory, 'file')
  await writeFile(file, text)
  const expected = await rowsOf(file, 1_000_000, 0)
  for (const window of windows) {
    assert.deepEqual(await rowsOf(file, window, 200), expected, `${label}, window ${window}: ${text}`)
  }
  return expected !== null && typeof expected === 'object' && 'rows' in expected
}

const rounds = 500

test(`${rounds} random documents give the same rows and faults with patterns as without`, async () => {
  let good = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const random = createRandom(seed + 5e6)
    const windows = [pick(random, [16, 48, 100, 300]), 1_000_000]
    if (await compare(randomDocument(random), windows, `seed ${seed}`)) good++
  }
  assert.ok(good > rounds / 2, `only ${good} were read`)
  assert.ok(taken > rounds / 2, `only ${taken} were quick`)
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
    const before = taken
    const windows = times(Buffer.byteLength(text), (n) => n + 8)
    assert.ok(await compare(text, windows, 'all windows'))
    assert.ok(taken - before > windows.length * 3, `only ${taken - before} were quick`)
  }
})
