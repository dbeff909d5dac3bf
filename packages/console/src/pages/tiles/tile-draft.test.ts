import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TileSource } from '@graticule/client'
import { draftOf, extentFault, extentOf, patchOf } from './tile-draft.ts'

const record = {
  name: 'Roads',
  attribution: 'City',
  minZoom: 0,
  maxZoom: 14,
  extentLngLat: [5.123_456_789, 45, 11, 48],
} as unknown as TileSource

test('a draft that was not changed is no patch, whatever digits the texts lack', () => {
  assert.equal(patchOf(record, draftOf(record)), undefined)
})

test('a patch names only what was changed', () => {
  const draft = { ...draftOf(record), maxZoom: 12, extent: ['6', '45', '11', '48'] as const }
  assert.deepEqual(patchOf(record, draft), { maxZoom: 12, extentLngLat: [6, 45, 11, 48] })
})

test('an extent that is none is said so, and not saved', () => {
  for (const extent of [
    ['', '45', '11', '48'],
    ['a', '45', '11', '48'],
    ['12', '45', '11', '48'],
    ['5', '-91', '11', '48'],
  ] as const) {
    const draft = { ...draftOf(record), extent }
    assert.equal(extentOf(draft), undefined)
    assert.ok(extentFault(draft))
    assert.equal(patchOf(record, draft), undefined)
  }
})
