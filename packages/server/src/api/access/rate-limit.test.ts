import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimit } from './rate-limit.ts'

// One database is enough: none is asked.

test('a rate is of each key and of each user, tiles count less and queries more, and master keys have none', () => {
  let now = 0
  const limit = createRateLimit(10, { number: 1, count: 2 }, () => now)
  const caller = { keyHash: 'a', type: 'app', bearer: null } as unknown as Parameters<typeof limit>[0]
  const countOf = (one: typeof caller, weight: number): number => {
    for (let count = 0; ; count++) {
      try {
        limit(one, weight)
      } catch {
        return count
      }
      if (count > 1_000) return Number.POSITIVE_INFINITY
    }
  }
  assert.equal(countOf(caller, 1), 10, 'twice its part of two workers')
  assert.equal(countOf({ ...caller, keyHash: 'b' }, 0.2), 50)
  assert.equal(countOf({ ...caller, keyHash: 'c' }, 4), 2)
  assert.equal(countOf({ ...caller, bearer: { userId: 1, sessionId: 's' } }, 1), 10)
  assert.equal(countOf({ ...caller, bearer: { userId: 2, sessionId: 's' } }, 1), 10)
  assert.equal(countOf({ ...caller, type: 'master' }, 1), Number.POSITIVE_INFINITY)
  assert.equal(countOf({ ...caller, keyHash: 'd', requestsPerSecond: 100 }, 1), 100)
  now += 1_000
  assert.equal(countOf(caller, 1), 5)
})
