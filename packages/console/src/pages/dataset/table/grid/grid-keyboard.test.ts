import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moveFocus } from './grid-keyboard.ts'

const size = { rows: 100, columns: 4, pageRows: 20 }
const after = (row: number, column: number, key: string, ctrlKey = false) => {
  const place = moveFocus({ row, column }, { key, ctrlKey, metaKey: false }, size)
  return place && [place.row, place.column]
}

test('arrows move by a cell, into the head above the first row, and never beyond the grid', () => {
  assert.deepEqual(after(3, 1, 'ArrowDown'), [4, 1])
  assert.deepEqual(after(0, 1, 'ArrowUp'), [-1, 1])
  assert.deepEqual(after(-1, 1, 'ArrowUp'), [-1, 1])
  assert.deepEqual(after(99, 3, 'ArrowDown'), [99, 3])
  assert.deepEqual(after(5, 3, 'ArrowRight'), [5, 3])
})

test('Home and End go along the row, with Ctrl along the table, pages by the viewport', () => {
  assert.deepEqual(after(5, 2, 'Home'), [5, 0])
  assert.deepEqual(after(5, 0, 'End'), [5, 3])
  assert.deepEqual(after(5, 2, 'Home', true), [0, 2])
  assert.deepEqual(after(5, 2, 'End', true), [99, 2])
  assert.deepEqual(after(5, 2, 'PageDown'), [25, 2])
  assert.deepEqual(after(5, 2, 'PageUp'), [0, 2])
})

test('other keys do not move the focus', () => {
  assert.equal(after(5, 2, 'x'), null)
})
