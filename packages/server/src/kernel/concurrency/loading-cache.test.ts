import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoadingCache } from './loading-cache.ts'

const long = 60_000

/** Answers 1, 2, 3, … and tells how often it was asked. */
function counter() {
  let asked = 0
  return { load: async () => ++asked, count: () => asked }
}

test('those who ask for a key at the same time, and soon after, share one load', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long })
  const { load, count } = counter()
  assert.deepEqual(await Promise.all([cache.get('a', load), cache.get('a', load)]), [1, 1])
  assert.deepEqual([cache.fresh('a'), await cache.get('a', load), count()], [1, 1, 1])
})

test('an entry older than its time to live is loaded anew, counted from the moment of the question', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long })
  const { load } = counter()
  const begun = performance.now()
  await cache.get('a', load)
  while (performance.now() - begun < 5) await cache.get('a', load)
  assert.equal(await cache.get('a', load, 1), 2)
  assert.equal(cache.last('a'), 2)
})

test('a failure is not kept, nor a value that is refused', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long, keeps: (value) => value > 1 })
  await assert.rejects(cache.get('a', () => Promise.reject(new Error('down'))))
  const { load } = counter()
  assert.deepEqual([await cache.get('a', load), cache.fresh('a')], [1, undefined])
  assert.deepEqual([await cache.get('a', load), cache.fresh('a')], [2, 2])
})

test('what is forgotten while it is being loaded is not believed when it comes', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long })
  const old = Promise.withResolvers<number>()
  const first = cache.get('a', () => old.promise)
  cache.forgetWhere(() => false)
  assert.equal(await cache.get('a', async () => 2), 2)
  old.resolve(1)
  assert.equal(await first, 1)
  assert.equal(cache.fresh('a'), 2)
})

test('a failure of a load that was forgotten leaves the entry after it', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long })
  const old = Promise.withResolvers<number>()
  const first = cache.get('a', () => old.promise)
  cache.forget('a')
  await cache.get('a', async () => 2)
  old.reject(new Error('late'))
  await assert.rejects(first)
  assert.equal(cache.fresh('a'), 2)
})

test('entries of another generation are stale', async () => {
  let generation = 0
  const cache = createLoadingCache<number>({ ttlMs: long, generation: () => generation })
  const { load } = counter()
  await cache.get('a', load)
  generation = 1
  assert.equal(cache.fresh('a'), undefined)
  assert.equal(await cache.get('a', load), 2)
})

test('forgetting by value leaves the others, and the cache holds no more than its most', async () => {
  const cache = createLoadingCache<number>({ ttlMs: long, max: 3 })
  for (const n of [1, 2, 3, 4]) await cache.get(String(n), async () => n)
  assert.deepEqual(['1', '2', '3', '4'].map(cache.last), [undefined, 2, 3, 4])
  cache.forgetWhere((value) => value % 2 === 0)
  assert.deepEqual(['2', '3', '4'].map(cache.last), [undefined, 3, undefined])
})
