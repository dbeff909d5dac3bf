import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areaOf, areaText, lengthOf, lengthText } from './measure.ts'

const isNear = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < expected * 1e-6, `${value} is not ${expected}`)

test('a degree along the equator, a meridian and a parallel are as long as they are', () => {
  const degree = (Math.PI / 180) * 6_371_008.8
  isNear(
    lengthOf([
      [0, 0],
      [1, 0],
    ]),
    degree,
  )
  isNear(
    lengthOf([
      [10, 20],
      [10, 22],
    ]),
    2 * degree,
  )
  isNear(
    lengthOf([
      [179.5, 0],
      [-179.5, 0],
    ]),
    degree,
  )
  assert.equal(lengthOf([]), 0)
  assert.equal(lengthOf([[1, 2]]), 0)
})

test('an octant of the earth is an eighth of its surface, whichever way round', () => {
  const octant: [number, number][] = [
    [0, 0],
    [90, 0],
    [90, 90],
    [0, 90],
  ]
  const eighth = (4 * Math.PI * 6_371_008.8 ** 2) / 8
  isNear(areaOf(octant), eighth)
  isNear(areaOf(octant.toReversed()), eighth)
})

test('lengths and areas are told in the unit that suits them', () => {
  assert.equal(lengthText(12.345, 'en'), '12.35 m')
  assert.equal(lengthText(999, 'en'), '999 m')
  assert.equal(lengthText(1_234_567, 'en'), '1,235 km')
  assert.equal(areaText(900, 'en'), '900 m²')
  assert.equal(areaText(1_500_000, 'en'), '1.5 km²')
})
