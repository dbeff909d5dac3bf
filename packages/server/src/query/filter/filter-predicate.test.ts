import assert from 'node:assert/strict'
import { test } from 'node:test'
import { polygon, ring } from '../../../testing/spatial-places.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'

const attributes: Attributes = new Map(
  (['string', 'integer', 'boolean', 'json', 'array', 'binary', 'geometry'] as const).map(
    (type): [string, Attribute] => [type, { name: type, type }],
  ),
)
const answer = (input: unknown, row: Record<string, unknown>) => filterPredicate(parseFilter(input, attributes))(row)

test('a value that is not of its type, or not there, is null', () => {
  const rows = [{}, { integer: null }, { integer: 'n/a' }, { integer: 1.5 }, { integer: {} }, { integer: undefined }]
  for (const row of rows) {
    assert.equal(answer({ integer: 1 }, row), null)
    assert.equal(answer({ integer: { $ne: 1 } }, row), null)
    assert.equal(answer({ integer: null }, row), true)
  }
  assert.equal(answer({ array: { $contains: 'a' } }, { array: 'a' }), null)
  assert.equal(answer({ array: null }, { array: 'a' }), true)
  assert.equal(answer({ geometry: null }, { geometry: { type: 'Point' } }), true)
  assert.equal(answer({ geometry: { $bbox: [0, 0, 1, 1] } }, { geometry: 'POINT (0 0)' }), null)
  assert.equal(answer({ binary: null }, { binary: 'AAEC' }), false)
})

test('integers beyond 2^53 are compared exactly', () => {
  assert.equal(answer({ integer: '9007199254740993' }, { integer: '9007199254740993' }), true)
  assert.equal(answer({ integer: '9007199254740993' }, { integer: '9007199254740992' }), false)
})

test('a row has only its own members', () => {
  const named: Attributes = new Map([['toString', { name: 'toString', type: 'json' }]])
  assert.equal(filterPredicate(parseFilter({ toString: null }, named))({}), true)
})

test('unknown is neither true nor false, but decides nothing that is decided', () => {
  const row = { integer: null, string: 'x' }
  assert.equal(answer({ integer: 1, string: 'x' }, row), null)
  assert.equal(answer({ integer: 1, string: 'y' }, row), false)
  assert.equal(answer({ $or: [{ integer: 1 }, { string: 'x' }] }, row), true)
  assert.equal(answer({ $or: [{ integer: 1 }, { string: 'y' }] }, row), null)
  assert.equal(answer({ $not: { integer: 1 } }, row), null)
  assert.equal(answer({ integer: { $in: [] } }, row), false)
  assert.equal(answer({ integer: { $notIn: [] } }, row), true)
  assert.equal(answer({ boolean: { $is: true } }, {}), false)
})

test('a list of lists is searched through', () => {
  assert.equal(answer({ array: { $contains: 'a,b' } }, { array: [['a'], ['b']] }), true)
  assert.equal(answer({ array: { $eq: 'a,b' } }, { array: [['a'], ['b']] }), false)
})

test('$iLike folds letters one by one', () => {
  assert.equal(answer({ string: { $iLike: 'STRASSE%' } }, { string: 'straSSe 1' }), true)
  assert.equal(answer({ string: { $iLike: '%ÜBER%' } }, { string: 'Darüber' }), true)
  assert.equal(answer({ string: { $iLike: 'İ' } }, { string: 'i' }), false)
})

test('a pattern made to take long is done at once', () => {
  const text = 'a'.repeat(100_000)
  const started = performance.now()
  assert.equal(answer({ string: { $like: `${'%a'.repeat(100)}%b` } }, { string: text }), false)
  assert.ok(performance.now() - started < 20_000)
})

test('a geometry that is not one, or empty, is near nothing and in nothing', () => {
  const around = polygon(ring(0, 0, 9, 9))
  for (const operators of [{ $within: around }, { $dwithin: { geometry: around, distance: 1e9 } }]) {
    assert.equal(answer({ geometry: operators }, { geometry: 'POINT (1 1)' }), null)
    assert.equal(answer({ geometry: operators }, { geometry: { type: 'MultiPoint', coordinates: [] } }), false)
    assert.equal(answer({ geometry: operators }, { geometry: { type: 'Point', coordinates: [1, 1] } }), true)
  }
})

test('a geometry whose edges would be cut into millions is refused', () => {
  const zigzag = Array.from({ length: 20_000 }, (_, index) => [index % 2 ? 170 : -170, index / 1_000])
  const operand = { geometry: { type: 'LineString', coordinates: zigzag }, distance: 1 }
  assert.throws(
    () => answer({ geometry: { $dwithin: operand } }, {}),
    (error) => error instanceof ApiError && error.code === 'invalid_filter',
  )
})
