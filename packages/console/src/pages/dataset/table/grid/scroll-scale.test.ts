import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScrollScale } from './scroll-scale.ts'

const rowHeight = 28
const viewport = 700
const table = 10_000_000 * rowHeight
const scale = createScrollScale(table, viewport)

test('a table that the browser can scroll is not scaled', () => {
  const small = createScrollScale(28_000, viewport)
  assert.equal(small.height, 28_000)
  assert.deepEqual(small.follow({ top: 0, scrollTop: 0 }, 900), { top: 900, scrollTop: 900 })
})

test('ten million rows fit into eight million pixels, and the bar’s ends are the table’s', () => {
  assert.equal(scale.height, 8_000_000)
  const end = scale.follow({ top: 0, scrollTop: 0 }, scale.height - viewport)
  assert.equal(end.top, table - viewport)
  assert.deepEqual(scale.follow(end, 0), { top: 0, scrollTop: 0 })
  assert.deepEqual(scale.place(table), { top: table - viewport, scrollTop: scale.height - viewport })
  assert.deepEqual(scale.place(0), { top: 0, scrollTop: 0 })
})

test('the wheel moves the rows by as many pixels as it turns, wherever the table is', () => {
  let place = scale.place(123_456_789)
  for (let step = 0; step < 2000; step++) {
    const next = scale.follow(place, place.scrollTop + 100)
    assert.equal(Math.round(next.top - place.top), 100)
    place = next
  }
})

test('from any place the wheel reaches both ends, and the bar never leaves its way', () => {
  for (const direction of [100, -100]) {
    let place = scale.place(direction > 0 ? table - 60_000 : 60_000)
    for (let step = 0; step < 700; step++) {
      place = scale.follow(place, place.scrollTop + direction)
      assert.ok(place.scrollTop >= 0 && place.scrollTop <= scale.height - viewport)
    }
    assert.equal(place.top, direction > 0 ? table - viewport : 0)
  }
})
