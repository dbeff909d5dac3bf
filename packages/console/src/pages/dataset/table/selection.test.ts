import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../dataset.ts'
import { maxSelected, rowId, select, selectRange, whereIds } from './selection.ts'

const key = (...names: string[]) => names.map((name) => ({ name, primaryKey: true }) as DatasetAttribute)

test('the id of a row is its key, and finds it again', () => {
  assert.equal(rowId({ id: 7 }, key('id')), 7)
  assert.deepEqual(whereIds([7, 8], key('id')), { id: { $in: [7, 8] } })
  const id = rowId({ a: 'x', b: 2 }, key('a', 'b'))
  assert.equal(id, '["x",2]')
  assert.deepEqual(whereIds([String(id)], key('a', 'b')), { $or: [{ a: 'x', b: 2 }] })
  assert.equal(rowId({ a: 1 }, []), undefined)
})

test('a click selects one row, a second one clears it, Ctrl adds and removes', () => {
  assert.deepEqual(select([], 1, { isAdded: false }), [1])
  assert.deepEqual(select([1], 1, { isAdded: false }), [])
  assert.deepEqual(select([1, 2], 1, { isAdded: false }), [1])
  assert.deepEqual(select([1], 2, { isAdded: true }), [1, 2])
  assert.deepEqual(select([1, 2], 1, { isAdded: true }), [2])
})

test('Shift selects everything between, up or down, as far as it is held and allowed', () => {
  const idAt = (index: number) => (index === 4 ? undefined : index * 10)
  assert.deepEqual(selectRange(2, 5, idAt), [20, 30, 50])
  assert.deepEqual(selectRange(5, 3, idAt), [50, 30])
  assert.equal(selectRange(10, 10_000, idAt).length, maxSelected)
})
