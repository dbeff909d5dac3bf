import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../errors.ts'
import { limits } from '../limits/limits.ts'
import { bodyBudget, documentBudget, type JsonBudget, rowBudget } from './json-budget.ts'
import { JsonScanner, scanJson } from './json-scanner.ts'

// One database is enough: this counts bytes.

/** The limit that a text is over. */
function refusalOf(
  text: string,
  budget: JsonBudget = bodyBudget,
  piece = Number.POSITIVE_INFINITY,
): string | undefined {
  const bytes = Buffer.from(text)
  try {
    const scanner = new JsonScanner(budget)
    for (let at = 0; at < bytes.length; at += piece) scanner.feed(bytes.subarray(at, at + piece))
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.ok(error.status === 400 || error.status === 413)
    return String(error.extensions.limitName)
  }
}

const list = (count: number, item: string): string => `[${Array(count).fill(item).join()}]`

/** How many values there are, counted after parsing. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + countOf(one), 1)
}

test('values of every kind are counted as JSON.parse would make them, wherever the pieces of the body end', () => {
  const most = limits.bodyValues.value
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 9 }), fc.nat(3), (value, piece, space) => {
      const text = JSON.stringify(value, null, space)
      const rest = most - countOf(value) - 2
      const full = `[${text},${list(rest, '0')}]`
      assert.equal(refusalOf(full), undefined)
      assert.equal(refusalOf(`[${text},${list(rest + 1, '0')}]`), 'bodyValues')
      assert.equal(refusalOf(`[${list(rest, '0')},${text}]`, bodyBudget, 100_000 + piece), undefined)
      assert.equal(refusalOf(text, bodyBudget, piece), undefined)
    }),
    { numRuns: 30 },
  )
})

test('each limit is named, and what is just within it passes', () => {
  const keys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":0`).join()}}`
  const cases: [string, (n: number) => string, number, JsonBudget?][] = [
    ['bodyValues', (n) => list(n - 1, '[]'), limits.bodyValues.value],
    ['bodyValues', (n) => list(n - 1, '{}'), limits.bodyValues.value],
    ['bodyValues', (n) => list(n - 1, '"\\""'), limits.bodyValues.value],
    ['bodyValues', (n) => list(n - 1, 'null'), limits.bodyValues.value],
    ['bodyDepth', (n) => `${'['.repeat(n)}${']'.repeat(n)}`, limits.bodyDepth.value],
    ['bodyDepth', (n) => `${'{"a":'.repeat(n)}0${'}'.repeat(n)}`, limits.bodyDepth.value],
    ['bodyKeys', keys, limits.bodyKeys.value],
    ['keyBytes', (n) => `{"${'k'.repeat(n)}":0}`, limits.keyBytes.value],
    ['keyBytes', (n) => `{"${'\\u0041'.repeat(n / 6)}${'k'.repeat(n % 6)}":0}`, limits.keyBytes.value],
    ['bodyCoordinates', (n) => `{"coordinates":${list(n - 1, '0')}}`, limits.bodyCoordinates.value],
    ['documentValues', (n) => list(n - 1, '[]'), limits.documentValues.value, documentBudget],
    ['rowValues', (n) => `{"a":${list(n - 2, '0')}}`, limits.rowValues.value, rowBudget],
  ]
  for (const [name, make, most, budget] of cases) {
    for (const piece of [Number.POSITIVE_INFINITY, 4_099]) {
      assert.equal(refusalOf(make(most), budget, piece), undefined, name)
      assert.equal(refusalOf(make(most + 1), budget, piece), name)
    }
  }
})

test('the coordinates of a row have a limit of their own, and its other values keep theirs', () => {
  const most = limits.coordinateValues.value
  const line = (count: number): string => `{"type":"LineString","coordinates":${list(count, '[1,2]')}}`
  const row = (geometry: string, others: number): string => `{"geom":${geometry},"a":${list(others, '0')}}`
  const fitting = Math.floor((most - 1) / 3)
  const full = row(line(fitting), limits.rowValues.value - 4)
  assert.equal(refusalOf(full, rowBudget), undefined)
  for (let piece = 20; piece < 45; piece++) assert.equal(refusalOf(full, rowBudget, piece), undefined, `${piece}`)
  assert.equal(refusalOf(row(line(fitting + 1), 0), rowBudget), 'coordinateValues')
  assert.equal(refusalOf(row(line(fitting), limits.rowValues.value - 3), rowBudget), 'rowValues')
  assert.equal(refusalOf(row(line(fitting).replace('"coordinates"', '"positions"'), 0), rowBudget), 'rowValues')
  assert.equal(refusalOf(row(`{"coordinates":"${'['.repeat(most)}"}`, 0), rowBudget), undefined)
})

test('what no coordinates have counts with the other values, where coordinates stand too', () => {
  const most = limits.bodyValues.value
  const inside = (count: number, item: string, others = 0): string =>
    `{"a":{"coordinates":${list(count, item)}},"b":${list(others, '0')}}`
  // Beside the texts: two objects and a list.
  assert.equal(refusalOf(inside(most - 3, '"a"')), undefined)
  assert.equal(refusalOf(inside(most - 2, '"a"')), 'bodyValues')
  assert.equal(refusalOf(inside(most - 9, '"a"', 7)), 'bodyValues')
  // A list of four levels, and one of five, in the outer one.
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  assert.equal(refusalOf(inside(24_000, nested(3))), undefined)
  assert.equal(refusalOf(inside(24_000, nested(4))), 'bodyValues')
  // Keys are no values there either.
  assert.equal(refusalOf(inside(5_000, '{"x":0}', most - 3)), undefined)
  assert.equal(refusalOf(inside(5_000, '{"x":0}', most - 2)), 'bodyValues')
})

test('texts are skipped whole, with whatever they hold', () => {
  const marks = '[{,:'.repeat(200_000)
  for (const text of [marks, `\\"${marks}`, '\\\\', `${'\\"'.repeat(9)}${'\\\\'.repeat(9)}`, 'ü😀\\u0041'])
    for (const piece of [1, 7, 64, 4_096, Number.POSITIVE_INFINITY]) {
      if (piece < 64 && text.length > 99) continue
      assert.equal(refusalOf(`{"a":"${text}","b":["${text}"]}`, bodyBudget, piece), undefined)
    }
})

test('what is not JSON is left to the parser', () => {
  for (const text of [']]]]', '"', '{"a', ':::', '\\', 'nope', '']) assert.equal(refusalOf(text), undefined, text)
})

test('rows with long texts are found in time that grows with their bytes, not with the square of their number', () => {
  const row = `{"name":"${'x'.repeat(100)}"}`
  const bytes = Buffer.from(list(70_000, row))
  const begun = process.cpuUsage()
  for (let at = 1; at < bytes.length - 1; ) at = new JsonScanner(rowBudget).feedOne(bytes, at) + 1
  const { user, system } = process.cpuUsage(begun)
  assert.ok(user + system < 1_000_000, `${user + system} µs`)
})

test('eight mebibytes are refused in the time of a few milliseconds each', () => {
  const bytes = Buffer.from(list(2_700_000, '[]'))
  const begun = process.cpuUsage()
  assert.throws(() => scanJson(bytes, bodyBudget), { code: 'too_large' })
  const { user, system } = process.cpuUsage(begun)
  assert.ok(user + system < 250_000, `${user + system} µs`)
})

test('one value of a longer text is counted to its end', () => {
  const bytes = Buffer.from('[{"a":["]}"]},{"b":2')
  assert.equal(new JsonScanner(rowBudget).feedOne(bytes, 1), 13)
  assert.ok(new JsonScanner(rowBudget).feedOne(bytes, 14) > bytes.length, 'one that is not whole')
})

test('numbers that a double rounds are noted outside of coordinates, and where these are', () => {
  const scanned = (text: string) => scanJson(Buffer.from(text), rowBudget)
  const long = '1.2345678901234567'
  assert.ok(scanned(`{"a":${long}}`).mayRound)
  assert.ok(!scanned(`{"a":1.5,"g":{"coordinates":[${long}]}}`).mayRound)
  for (const text of [`{"coordinates":5,"a":[${long}]}`, `{"g":{"coordinates":"x"},"a":[${long}]}`]) {
    assert.ok(scanned(text).mayRound, text)
    assert.deepEqual(scanned(text).coordinates, [])
  }
  const text = '{"g":{"geometries":[{"coordinates": [1,[2]],"a":[]},{"coordinates":[]}]},"b":[3]}'
  const ranges = scanned(text).coordinates.map(({ start, end }) => text.slice(start, end))
  assert.deepEqual(ranges, ['[1,[2]]', '[]'])
})
