import assert from 'node:assert/strict'
import { test } from 'node:test'
import { movedBy } from './scroll-anchor.ts'

const rows = (ids: readonly number[], offset: number) => (index: number) => ids[index - offset]

test('rows that moved are found where they are, in both directions', () => {
  assert.equal(movedBy([11, 12, 13], 50, rows([10, 11, 12, 13], 50)), 1)
  assert.equal(movedBy([11, 12, 13], 50, rows([11, 12, 13, 14], 48)), -2)
  assert.equal(movedBy([11, 12, 13], 50, rows([11, 12, 13], 50)), 0)
})

test('where the first row is gone, the next one that is left counts', () => {
  assert.equal(movedBy([11, 12, 13], 50, rows([12, 13, 14], 50)), -1)
  assert.equal(movedBy([11, 12, 13], 50, rows([1, 2, 3, 13], 50)), 1)
})

test('where all are gone, or there are no keys, nothing moves', () => {
  assert.equal(movedBy([11, 12, 13], 50, rows([1, 2, 3], 50)), 0)
  assert.equal(movedBy([undefined, undefined], 50, rows([], 0)), 0)
})
