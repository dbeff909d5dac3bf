import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedTags } from './tag-change.ts'

test('a tag is added once, removed, or changed for another, and others stay in their order', () => {
  assert.deepEqual(changedTags(['a', 'b'], { add: 'c' }), ['a', 'b', 'c'])
  assert.equal(changedTags(['a', 'b'], { add: 'b' }), undefined)
  assert.deepEqual(changedTags(['a', 'b'], { add: 'c', remove: 'a' }), ['b', 'c'])
  assert.deepEqual(changedTags(['a'], { remove: 'a' }), [])
  assert.equal(changedTags(['a'], { remove: 'x' }), undefined)
})
