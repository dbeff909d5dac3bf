import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisOf, binsOf, roundedAt } from './histogram-bins.ts'

const of = (values: number[]) => ({ min: Math.min(...values), max: Math.max(...values), values })

test('evenly spread values have a linear axis, skewed ones a logarithmic one', () => {
  const even = axisOf(of(Array.from({ length: 101 }, (_, index) => index)))
  assert.equal(even.isLogarithmic, false)
  assert.equal(even.shareOf(25), 0.25)
  const skewed = axisOf(of([1, 2, 3, 4, 5, 6, 10_000]))
  assert.equal(skewed.isLogarithmic, true)
  assert.equal(Math.round(skewed.valueAt(0.5)), 100)
  assert.equal(axisOf(of([-1, 0, 0, 0, 0, 10_000])).isLogarithmic, false)
})

test('every value is in one bar, the highest in the last', () => {
  const given = of([0, 1, 2, 3, 4, 10])
  assert.deepEqual(binsOf(given.values, axisOf(given), 5), [2, 2, 1, 0, 1])
  const same = of([7, 7])
  assert.deepEqual(binsOf(same.values, axisOf(same), 2), [2, 0])
})

test('a break that is dragged lands on a round number', () => {
  const axis = axisOf(of([0, 500_000, 1_000_000]))
  assert.equal(roundedAt(axis, 0.123_456), 120_000)
})
