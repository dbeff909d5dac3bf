import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CachedTile, createTileCache } from './tile-cache.ts'

const tile = (bytes: number): CachedTile => ({ forms: new Map([['identity', new Uint8Array(bytes)]]), etag: 'a' })

describe('tiles that were made are kept', () => {
  test('up to a number of bytes, the ones used last', () => {
    const cache = createTileCache(10_000)
    for (let index = 0; index < 100; index++) {
      cache.put('a', `${index}`, tile(1000))
      cache.get('a', '0')
      assert.ok(cache.bytes <= 10_000)
    }
    assert.ok(cache.get('a', '0'))
    assert.ok(cache.get('a', '99'))
    assert.equal(cache.get('a', '50'), undefined)
  })

  test('with every form that is added counted', () => {
    const cache = createTileCache(10_000)
    const kept = tile(1000)
    cache.put('a', 'x', kept)
    const before = cache.bytes
    kept.forms.set('gzip', new Uint8Array(500))
    cache.grow('a', 'x')
    assert.equal(cache.bytes, before + 500)
    kept.forms.set('br', new Uint8Array(20_000))
    cache.grow('a', 'x')
    assert.equal(cache.get('a', 'x'), undefined)
    assert.equal(cache.bytes, 0)
  })

  test('so that one application cannot push out the tiles of another', () => {
    const cache = createTileCache(20_000)
    for (let index = 0; index < 4; index++) cache.put('small', `${index}`, tile(1000))
    for (let index = 0; index < 1000; index++) cache.put('large', `${index}`, tile(1000))
    for (let index = 0; index < 4; index++) assert.ok(cache.get('small', `${index}`), String(index))
    assert.ok(cache.bytes <= 20_000)
  })

  test('only for whom they were made', () => {
    const cache = createTileCache(20_000)
    cache.put('a', 'x', tile(10))
    assert.equal(cache.get('b', 'x'), undefined)
  })

  test('not at all when there is no room, nor when one is larger than all of it', () => {
    const none = createTileCache(0)
    none.put('a', 'x', tile(10))
    assert.equal(none.get('a', 'x'), undefined)
    const small = createTileCache(1000)
    small.put('a', 'x', tile(10))
    small.put('a', 'y', tile(5000))
    assert.equal(small.get('a', 'y'), undefined)
    assert.ok(small.get('a', 'x'), 'a giant pushes nothing out')
    assert.ok(small.bytes <= 1000)
  })

  test('once: a tile that is made anew takes the place of the old one', () => {
    const cache = createTileCache(10_000)
    cache.put('a', 'x', tile(1000))
    const before = cache.bytes
    cache.put('a', 'x', tile(1000))
    assert.equal(cache.bytes, before)
  })
})
