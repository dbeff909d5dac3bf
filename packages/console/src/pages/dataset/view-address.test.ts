import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readView } from './view-address.ts'

test('filter, order and selection are read from an address, and anything else is left out', () => {
  assert.deepEqual(readView({ where: { pop: 1 }, sort: '-pop', sel: [1, 'a'] }), {
    where: { pop: 1 },
    sort: '-pop',
    sel: [1, 'a'],
  })
  assert.deepEqual(readView({ sel: 7 }), { sel: [7] })
  assert.deepEqual(readView({ where: 'x', sort: {}, sel: [null, {}] }), {})
  assert.deepEqual(readView({ where: {}, sort: '' }), {})
})
