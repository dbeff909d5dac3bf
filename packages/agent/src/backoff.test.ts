import assert from 'node:assert/strict'
import test from 'node:test'
import { backoffMs } from './backoff.ts'

test('waits double with every try, up to half a minute, and are spread over their whole length', () => {
  assert.deepEqual(
    [0, 1, 2, 5, 6, 2_000].map((attempt) => backoffMs(attempt, () => 1)),
    [500, 1_000, 2_000, 16_000, 30_000, 30_000],
  )
  assert.equal(
    backoffMs(9, () => 0),
    0,
  )
})
