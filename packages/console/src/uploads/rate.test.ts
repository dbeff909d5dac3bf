import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatClock, type RateSample, rateOf, secondsLeft, withSample } from './rate.ts'

const at = (...pairs: [ms: number, amount: number][]): RateSample[] =>
  pairs.reduce<RateSample[]>((samples, [atMs, amount]) => withSample(samples, { atMs, amount }), [])

test('the rate of an upload is that of the last five seconds, not of all the time', () => {
  const slowThenFast = at([0, 0], [10_000, 1000], [12_000, 101_000], [14_000, 201_000])
  assert.equal(rateOf(slowThenFast), 50_000)
  assert.equal(secondsLeft(slowThenFast, 301_000), 2)
})

test('nothing is said of the rate before there is something to measure, nor while nothing moves', () => {
  assert.equal(rateOf([]), null)
  assert.equal(rateOf(at([0, 0])), null)
  assert.equal(rateOf(at([0, 0], [100, 5000])), null)
  assert.equal(rateOf(at([0, 5000], [2000, 5000])), null)
  assert.equal(secondsLeft(at([0, 5000], [2000, 5000]), 9000), null)
})

test('time left is written as a clock', () => {
  assert.deepEqual([0, 12, 75, 3849].map(formatClock), ['0:00', '0:12', '1:15', '1:04:09'])
})
