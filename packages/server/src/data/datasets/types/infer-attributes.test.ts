import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { planBatches } from '../../../query/execution/plan-rows.ts'
import { parsePlan } from '../../../query/plan/plan.ts'
import { attributesOf } from '../attribute-dto.ts'
import { inferAttributes } from './infer-attributes.ts'

const typeOf = (...values: unknown[]) => inferAttributes(values.map((value) => ({ value })))[0]?.type

test('a type is told where all values are of it', () => {
  assert.equal(typeOf(1, 2, null), 'integer')
  assert.equal(typeOf(1, 2.5), 'number')
  assert.equal(typeOf(true, false), 'boolean')
  assert.equal(typeOf('a', '1'), 'string')
  assert.equal(typeOf('2024-02-29'), 'date')
  assert.equal(typeOf('2024-02-30'), 'string')
  assert.equal(typeOf('2024-02-29', '2024-02-29T10:00:00Z'), 'datetime')
  assert.equal(typeOf('10:30', '10:30:01'), 'time')
  assert.equal(typeOf('0b4f2c1e-0c4b-4f43-9a0e-6a1f0c1d2e3f'), 'uuid')
  assert.equal(typeOf([1], ['a']), 'array')
  assert.equal(typeOf({ a: 1 }), 'json')
})

test('mixed values get a type that loses none of them', () => {
  assert.equal(typeOf(1, 'a'), 'string')
  assert.equal(typeOf(1.5, 'a'), 'json')
  assert.equal(typeOf(true, 1), 'json')
  assert.equal(typeOf([1], { a: 1 }), 'json')
  assert.equal(typeOf({ type: 'Point', coordinates: [1, 2] }, { a: 1 }), 'json')
  assert.equal(typeOf(null, undefined), 'string')
})

test('no value of the rows that were looked at is lost', () => {
  const anyValue = fc.oneof(
    ...[fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.string(), fc.jsonValue()],
    fc.constantFrom('2024-01-01', '2024-01-01T00:00:00Z', '10:00', '9007199254740993', null),
  )
  const anyValues = fc.oneof(
    fc.array(anyValue, { maxLength: 3 }),
    fc.array(fc.integer()),
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
  )
  fc.assert(
    fc.property(anyValues, (values) => {
      const rows = values.map((value) => ({ value }))
      const attributes = attributesOf({ attributes: inferAttributes(rows), metadata: {}, databaseType: 'internal' })
      const cells = [...planBatches(parsePlan({}, attributes), rows, { geometry: 'geojson' })].flat()
      cells.forEach(([cell], index) => {
        assert.equal(cell === null, values[index] === null, JSON.stringify(values))
      })
    }),
    { numRuns: 500 },
  )
})

test('geometry comes with its type and its dimension', () => {
  const point = { type: 'Point', coordinates: [1, 2] }
  const line = {
    type: 'LineString',
    coordinates: [
      [1, 2, 3],
      [4, 5, 6],
    ],
  }
  const facts = (...values: unknown[]) => {
    const [attribute] = inferAttributes(values.map((value) => ({ value })))
    return [attribute?.type, attribute?.geometryType, attribute?.srid, attribute?.dimension]
  }
  assert.deepEqual(facts(point, null), ['geometry', 'Point', 4326, 2])
  assert.deepEqual(facts(line), ['geometry', 'LineString', 4326, 3])
  assert.deepEqual(facts(point, line), ['geometry', 'Geometry', 4326, 3])
})

test('an attribute that is missing or null somewhere, or was not looked at everywhere, is nullable', () => {
  const [a, b, c] = inferAttributes([
    { a: 1, b: 1 },
    { a: 2, b: null, c: 3 },
  ])
  assert.deepEqual([a?.nullable, b?.nullable, c?.nullable], [false, true, true])
  assert.deepEqual(a, { name: 'a', type: 'integer', dbType: '', nullable: false, primaryKey: false, description: '' })
  const many = Array.from({ length: 1_001 }, (_, index) => ({ a: index === 1_000 ? 'late' : index }))
  assert.deepEqual(
    inferAttributes(many).map(({ type, nullable }) => [type, nullable]),
    [['integer', true]],
  )
})
