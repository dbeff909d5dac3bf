import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { createRandom, pick, type Random } from '../../../../../testing/uploads/random.ts'
import { ReadFault } from '../reader.ts'
import { openGeoJson } from './geojson.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geojson-fuzz-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const many = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make)

const texts = ['', 'a', 'é', '😀"', '\\', '\n\t', '\u2028', '{"', ']', '2020-01-01', '12', 'x'.repeat(200)]
const numbers = [0, -1, 1.5, 1e21, 1e-7, 123456.789, -0.1, 2147483648, 17.12345678901234, 9007199254740991]

function randomValue(random: Random, depth = 0): unknown {
  const kind = Math.floor(random() * (depth > 2 ? 5 : 7))
  if (kind === 0) return null
  if (kind === 1) return random() < 0.5
  if (kind < 4) return pick(random, numbers)
  if (kind === 4) return pick(random, texts)
  if (kind === 5) return many(random, 3, () => randomValue(random, depth + 1))
  return Object.fromEntries(many(random, 3, () => [pick(random, texts), randomValue(random, depth + 1)]))
}

function randomGeometry(random: Random, depth = 0): unknown {
  const position = () => [pick(random, numbers), random() * 180]
  const line = () => [position(), position(), ...many(random, 3, position)]
  const ring = () => {
    const start = position()
    return [start, [1000, 2], [3, 4000], start]
  }
  const rings = () => [ring(), ...many(random, 2, ring)]
  const makers: (() => unknown)[] = [
    () => ({ type: 'Point', coordinates: position() }),
    () => ({ type: 'LineString', coordinates: line() }),
    () => ({ coordinates: rings(), type: 'Polygon' }),
    () => ({ type: 'MultiPoint', bbox: [1, 2, 3, 4], coordinates: many(random, 4, position) }),
    () => ({ type: 'MultiLineString', coordinates: many(random, 3, line) }),
    () => ({ type: 'MultiPolygon', coordinates: many(random, 3, rings) }),
    () => ({
      type: 'GeometryCollection',
      geometries: depth > 1 ? [] : many(random, 3, () => randomGeometry(random, depth + 1)),
    }),
  ]
  return pick(random, makers)()
}

type RandomFeature = { type: string; properties: Record<string, unknown> | null; geometry: { type: string } | null }

function randomFeature(random: Random): RandomFeature {
  const geometry = random() < 0.1 ? null : randomGeometry(random)
  const properties = Object.fromEntries(
    many(random, 5, () => [pick(random, ['a', 'b', 'é', 'k"', 'z\\']), randomValue(random)]),
  )
  const members: [string, unknown][] = [
    ['type', 'Feature'],
    ['properties', random() < 0.1 ? null : properties],
    ['geometry', geometry],
    ['extra', randomValue(random)],
  ]
  return Object.fromEntries(members.sort(() => random() - 0.5)) as RandomFeature
}

function randomDocument(random: Random): { text: string; features: RandomFeature[]; isOne: boolean } {
  const features = [randomFeature(random), ...many(random, 5, () => randomFeature(random))]
  const indent = pick(random, [undefined, 1, '\t'])
  const shapes = [
    () => JSON.stringify({ type: 'FeatureCollection', name: 'n', features, more: randomValue(random) }, null, indent),
    () => JSON.stringify({ more: [1], features, type: 'FeatureCollection' }, null, indent),
    () => JSON.stringify(features, null, indent),
    () => features.map((feature) => JSON.stringify(feature)).join('\n'),
    () => features.map((feature) => `\x1e${JSON.stringify(feature, null, indent)}`).join('\n'),
  ]
  const shape = pick(random, shapes)
  return { text: shape(), features, isOne: shapes.indexOf(shape) < 3 }
}

async function read(text: string | Buffer, window: number) {
  const file = join(directory, 'file')
  await writeFile(file, text)
  return rowsOfReader(openGeoJson(file, { fileName: 'file', window }))
}

/** What a value is once its column has a type. */
function asType(type: string | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (type === 'bigint') return BigInt(value as number)
  return type === 'text' && typeof value !== 'string' ? JSON.stringify(value) : value
}

const rounds = 400

test(`${rounds} random documents are read as JSON.parse reads them, whatever the window`, async () => {
  for (let seed = 1; seed <= rounds; seed++) {
    const random = createRandom(seed)
    const { text, features } = randomDocument(random)
    const { layer, rows } = await read(text, pick(random, [16, 48, 100, 1_000, 1_000_000]))
    assert.equal(rows.length, features.length, `seed ${seed}`)
    const isMulti =
      layer.geometryTypes.size === 2 &&
      new Set([...layer.geometryTypes].map((type) => type.replace('Multi', ''))).size === 1
    for (const [index, { properties, geometry }] of features.entries()) {
      const expected = Object.fromEntries(
        layer.fields.map(({ name, type }) => [name, asType(type, properties?.[name])]),
      )
      assert.deepEqual(rows[index]?.values, expected, `seed ${seed}`)
      if (!isMulti) assert.deepEqual(rows[index]?.geometry, geometry && withoutBox(geometry), `seed ${seed}`)
    }
  }
})

function withoutBox(geometry: { type: string; bbox?: unknown; geometries?: { type: string }[] }): unknown {
  const { bbox: _, geometries, ...rest } = geometry
  return geometries ? { ...rest, geometries: geometries.map(withoutBox) } : rest
}

test(`${rounds} damaged documents give rows or a fault, nothing else, and never hang`, async () => {
  for (let seed = 1; seed <= rounds; seed++) {
    const random = createRandom(seed + 1e6)
    const { text, isOne } = randomDocument(random)
    const bytes = Buffer.from(text)
    for (let change = 0; change <= random() * 4; change++) {
      bytes[Math.floor(random() * bytes.length)] =
        random() < 0.5 ? Math.floor(random() * 256) : '{}[],:"0-.e\\'.charCodeAt(Math.floor(random() * 13))
    }
    const cut = random() < 0.3 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
    const isJson = parses(cut.toString())
    try {
      await read(cut, pick(random, [16, 48, 1_000]))
      assert.ok(isJson || !isOne, `seed ${seed}: no JSON was taken for some`)
    } catch (error) {
      if (!(error instanceof ReadFault)) throw new Error(`seed ${seed}`, { cause: error })
      assert.ok(!isJson || error.code !== 'truncated', `seed ${seed}: ${error.message}`)
    }
  }
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
