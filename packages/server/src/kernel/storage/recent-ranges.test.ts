import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRecentRanges } from './recent-ranges.ts'

test('a range is recent for at least half a minute and at most two minutes', () => {
  let now = 0
  const recent = createRecentRanges(() => now)
  recent.note(7)
  now = 29_999
  assert.ok(recent.has(7))
  assert.ok(!recent.has(8))
  now = 120_000
  assert.ok(!recent.has(7))
})

test('a range that is read again and again stays recent', () => {
  let now = 0
  const recent = createRecentRanges(() => now)
  recent.note(7)
  for (; now < 600_000; now += 10_000) {
    assert.ok(recent.has(7), `after ${now} ms`)
    recent.digest(7, () => 'digest')
  }
})

test('the digest of a range is computed once', () => {
  const recent = createRecentRanges()
  recent.note(7)
  let computed = 0
  const digest = () => recent.digest(7, () => `digest ${++computed}`)
  assert.deepEqual([digest(), digest()], ['digest 1', 'digest 1'])
  recent.note(7)
  assert.equal(digest(), 'digest 1')
})

test('a slow read forgets all ranges, and many ranges push out the oldest', () => {
  const recent = createRecentRanges()
  recent.note(7)
  recent.forget()
  assert.ok(!recent.has(7))
  for (let offset = 0; offset < 20_000; offset++) recent.note(offset)
  assert.ok(recent.has(19_999))
  assert.ok(!recent.has(0))
})
