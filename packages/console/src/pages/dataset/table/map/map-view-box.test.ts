import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxOf } from './map-view-box.ts'

test('a view that has turned around the world, or sees all of it, is a box of the server', () => {
  assert.deepEqual(boxOf(5, 47, 15, 55), [5, 47, 15, 55])
  assert.deepEqual(boxOf(365, 47, 375, 55), [5, 47, 15, 55])
  assert.deepEqual(boxOf(170, -20, 200, 10), [170, -20, -160, 10])
  assert.deepEqual(boxOf(-200, -20, -170, 10), [160, -20, -170, 10])
  assert.deepEqual(boxOf(-300, -95, 300, 95), [-180, -90, 180, 90])
  assert.deepEqual(boxOf(90, 0, 180, 10), [90, 0, 180, 10])
})
