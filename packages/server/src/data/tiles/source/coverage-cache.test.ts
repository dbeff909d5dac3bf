import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { later } from '../../../../testing/processes/clock.ts'
import { until } from '../../../../testing/until.ts'
import { createCoverageCache } from './coverage-cache.ts'
import type { TileExtent } from './tile-bounds.ts'

function counted(ms: number, extentLngLat: TileExtent = [0, 0, 10, 10]) {
  let looks = 0
  const look = createCoverageCache(async () => {
    looks++
    later(ms)
    return { minZoom: 0, maxZoom: 14, extentLngLat, attribution: '<b>us</b>' }
  })
  return { look, count: () => looks }
}

describe('what a dataset covers', () => {
  test('is looked at once as long as the data stay as they are', async () => {
    const { look, count } = counted(1)
    for (let times = 0; times < 5; times++)
      assert.deepEqual((await look('app', 'id', 'v1')).extentLngLat, [0, 0, 10, 10])
    assert.equal(count(), 1)
    await look('app', 'other', 'v1')
    assert.equal(count(), 2)
  })

  test('is anywhere when the data change sooner than they can be looked at', async () => {
    const { look, count } = counted(30, [170, 0, 190, 10])
    await look('app', 'id', 'v1')
    assert.deepEqual((await look('app', 'id', 'v2')).extentLngLat, [-180, -90, 190, 90])
    assert.equal(count(), 1)
  })

  test('is looked at again in due time', async () => {
    const { look, count } = counted(1)
    await look('app', 'id', 'v1')
    // On a busy machine the first look takes long, and so does the time until the next.
    await until(async () => {
      later(20)
      return (await look('app', 'id', 'v2')).extentLngLat[0] === 0
    })
    assert.equal(count(), 2)
  })

  test('is looked at in the background when that takes long, and may be anywhere until then', async () => {
    const looks = [Promise.withResolvers<TileExtent>(), Promise.withResolvers<TileExtent>()]
    let begun = 0
    const look = createCoverageCache(async () => ({
      minZoom: 0,
      maxZoom: 14,
      extentLngLat: await (looks[begun++] as (typeof looks)[number]).promise,
    }))
    const first = look('app', 'id', 'v1')
    later(250)
    looks[0]?.resolve([0, 0, 10, 10])
    assert.deepEqual((await first).extentLngLat, [0, 0, 10, 10])
    // Until looking again is worth it.
    while (begun < 2) {
      assert.deepEqual((await look('app', 'id', 'v2')).extentLngLat, [-180, -90, 180, 90])
      later(50)
    }
    assert.deepEqual((await look('app', 'id', 'v2')).extentLngLat, [-180, -90, 180, 90])
    looks[1]?.resolve([20, 0, 30, 10])
    await setImmediate()
    assert.deepEqual((await look('app', 'id', 'v2')).extentLngLat, [20, 0, 30, 10])
    assert.equal(begun, 2)
  })

  test('has an attribution that is safe to show', async () => {
    assert.equal((await counted(0).look('app', 'id', 'v1')).attribution, 'us')
  })
})
