import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeOrder, reversed, whereBefore } from './rank.ts'
import { formatSort, parseSort } from './sort.ts'

const key = [{ name: 'id' }]

test('the key completes an order that does not have it', () => {
  assert.equal(formatSort(completeOrder(parseSort('-pop'), key)), '-pop,id')
  assert.equal(formatSort(completeOrder(parseSort('-id'), key)), '-id')
  assert.equal(formatSort(reversed(parseSort('-pop,id'))), 'pop,-id')
})

test('rows before a row have a smaller value, or the same one and a smaller key', () => {
  assert.deepEqual(whereBefore({ id: 5, pop: 9 }, completeOrder(parseSort('-pop'), key)), {
    $or: [{ $and: [{ pop: { $gt: 9 } }] }, { $and: [{ pop: { $eq: 9 } }, { id: { $lt: 5 } }] }],
  })
})

test('before a row without a value are all rows that have one', () => {
  assert.deepEqual(whereBefore({ id: 5, pop: null }, completeOrder(parseSort('pop'), key)), {
    $or: [{ $and: [{ pop: { $ne: null } }] }, { $and: [{ pop: { $eq: null } }, { id: { $lt: 5 } }] }],
  })
})
