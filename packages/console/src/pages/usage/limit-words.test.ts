import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftOf, faultOfLimit, patchOf } from './limit-words.ts'

test('only what was changed is sent, to the byte, and an emptied field takes the limit away', () => {
  const before = draftOf({ storageBytes: 10_737_418_240, queriesAtOnce: 4 })
  assert.equal(before.storageBytes, '10.73741824')
  assert.deepEqual(patchOf(before, { ...before }), {})
  const after = { ...before, storageBytes: '2.5', queriesAtOnce: ' ', unfinishedUploads: '3' }
  assert.deepEqual(patchOf(before, after), { storageBytes: 2_500_000_000, unfinishedUploads: 3, queriesAtOnce: null })
  assert.equal(patchOf(draftOf({}), before).storageBytes, 10_737_418_240)
})

test('a limit is a positive number, a whole one where it counts things', () => {
  const isWrong = (...[name, text]: Parameters<typeof faultOfLimit>) => faultOfLimit(name, text) !== null
  assert.deepEqual(
    ['', '0.5', '1e3'].map((text) => isWrong('storageBytes', text)),
    [false, false, false],
  )
  assert.deepEqual(
    ['0', '-1', 'x', '1e99'].map((text) => isWrong('storageBytes', text)),
    [true, true, true, true],
  )
  assert.deepEqual(
    ['1.5', '2'].map((text) => isWrong('queriesAtOnce', text)),
    [true, false],
  )
})
