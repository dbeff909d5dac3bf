import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName, shortList, unknownName } from './nearest-name.ts'

test('the nearest name is at most two letters away, whatever their case', () => {
  const known = ['name', 'createdAt', 'population', 'geom']
  for (const [name, nearest] of [
    ['nmae', 'name'],
    ['Name', 'name'],
    ['created_at', 'createdAt'],
    ['CREATEDAT', 'createdAt'],
    ['populatoin', 'population'],
    ['poplation', 'population'],
    ['goem', 'geom'],
  ] as const) {
    assert.equal(nearestName(name, known), nearest, name)
  }
})

test('a beginning stands for the name that goes on with it, and a misspelling comes before a beginning', () => {
  assert.equal(nearestName('pop', ['name', 'population', 'pop_2020']), 'pop_2020')
  assert.equal(nearestName('populationDensity', ['name', 'population']), 'population')
  assert.equal(nearestName('pop', ['population', 'op']), 'op')
})

test('what is like nothing has no nearest name', () => {
  for (const name of ['', 'x', 'ab', 'zebra', 'n'.repeat(1_000)]) {
    assert.equal(nearestName(name, ['name', 'id', 'geom']), undefined, name)
  }
  assert.equal(nearestName('name', []), undefined)
})

test('a message names what was given, the nearest and the allowed names, and is short whatever they are', () => {
  assert.equal(
    unknownName('a field', 'nam', ['id', 'name']),
    '"nam" is not a field. Did you mean "name"? Allowed: id, name.',
  )
  assert.equal(unknownName('a relation', 'x', []), '"x" is not a relation. There are none.')
  const many = Array.from({ length: 22 }, (_, index) => `c${index}`)
  assert.equal(shortList(many), 'c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 … and 12 more')
  const long = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(1_000, 'x'))
  assert.ok(unknownName('a field', 'y'.repeat(10_000), long).length < 1_000)
})
