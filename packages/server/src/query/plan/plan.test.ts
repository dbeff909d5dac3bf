import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../kernel/errors.ts'
import type { Attribute } from '../values/attribute.ts'
import { parsePlan } from './plan.ts'

const attributes = new Map<string, Attribute>([
  ['pop', { name: 'pop', type: 'integer' }],
  ['place', { name: 'place', type: 'geometry' }],
  ['odd; name', { name: 'odd; name', type: 'string' }],
])
const namesOf = (text: string) => parsePlan({ attributes: [text] }, attributes).columns.map(({ name }) => name)

test('an alias has letters, digits, _, -, . and blanks; anything else is 400', () => {
  for (const alias of ['total', 'Größe 2.0', 'a-b_c', '人口']) {
    for (const expression of ['pop', 'sum(pop)', 'count(*)']) {
      assert.deepEqual(namesOf(`${expression} as ${alias}`), [alias])
    }
  }
  for (const alias of ["x'; drop", 'a"b', 'a,b', 'a(b)', 'a;b', 'a/b', 'a\tb', '$1', 'a\nb', 'x'.repeat(64)]) {
    assert.throws(
      () => namesOf(`sum(pop) as ${alias}`),
      (error) => error instanceof ApiError && error.status === 400,
      alias,
    )
  }
  assert.deepEqual(namesOf('odd; name'), ['odd; name'], 'an attribute keeps its own name')
})

test('a name is sorted, grouped or made distinct by once', () => {
  for (const [query, path] of [
    [{ order: ['pop', 'pop'] }, 'body/order/1'],
    [{ order: ['-pop', 'odd; name', 'pop'] }, 'body/order/2'],
    [{ attributes: ['sum(pop) as total'], order: ['total', '-total'] }, 'body/order/1'],
    [{ group: ['pop', 'pop'] }, 'body/group/1'],
    [{ distinct: ['pop', 'pop'] }, 'body/distinct/1'],
    [{ attributes: ['pop', 'pop'] }, 'body/attributes/1'],
  ] as const) {
    assert.throws(
      () => parsePlan(query, attributes),
      (error) => error instanceof ApiError && error.faults[0]?.path === path && /given twice/.test(error.message),
      JSON.stringify(query),
    )
  }
  const orders = parsePlan({ attributes: ['pop', 'pop as again'], order: ['pop', 'again'] }, attributes).order
  assert.equal(orders.length, 2, 'under two names it stands twice')
})

test('all parts of a query that are wrong are named at once', () => {
  const pathsOf = (query: Parameters<typeof parsePlan>[0]): string[] => {
    try {
      parsePlan(query, attributes)
    } catch (error) {
      return error instanceof ApiError ? error.faults.map(({ path }) => path) : []
    }
    return []
  }
  const wrong = { attributes: ['popp', 'sum(popp) as total'], where: { pup: 1 }, group: ['x'], distinct: ['y'] }
  assert.deepEqual(pathsOf({ ...wrong, order: ['-pop', 'pap', 'total'], sample: { percentage: 0 } }).toSorted(), [
    'body/attributes/0',
    'body/attributes/1',
    'body/distinct/0',
    'body/group/0',
    'body/order/1',
    'body/sample/percentage',
    'body/where/pup',
  ])
  assert.deepEqual(pathsOf({ where: { pup: 1 }, order: ['-place', 'pop'] }).toSorted(), [
    'body/order/0',
    'body/where/pup',
  ])
})
