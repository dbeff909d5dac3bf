import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latitudeSide, longitudeSide } from './frame-ticks.ts'

const europe = { west: -12, south: 34, east: 33, north: 61, width: 900, height: 800 }

test('longitudes are spaced evenly and every other segment is dark', () => {
  const { ticks, segments } = longitudeSide(europe)
  assert.deepEqual(
    ticks.map(({ at, label }) => [Math.round(at), label]),
    [-10, -5, 0, 5, 10, 15, 20, 25, 30].map((degree) => [
      (degree + 12) * 20,
      degree === 0 ? '0°' : `${Math.abs(degree)}°${degree < 0 ? 'W' : 'E'}`,
    ]),
  )
  assert.deepEqual(
    segments.map((segment) => segment.map(Math.round)),
    [
      [40, 140],
      [240, 340],
      [440, 540],
      [640, 740],
      [840, 900],
    ],
  )
})

test('latitudes lie where Web Mercator draws them, from north to south', () => {
  const { ticks } = latitudeSide(europe)
  assert.deepEqual(
    ticks.map(({ label }) => label),
    ['35°N', '40°N', '45°N', '50°N', '55°N', '60°N'],
  )
  const places = ticks.map(({ at }) => at)
  const gaps = places.slice(1).map((at, index) => (places[index] ?? 0) - at)
  assert.ok(places.every((at) => at >= 0 && at <= 800))
  assert.ok(
    gaps.every((gap, index) => index === 0 || gap > (gaps[index - 1] ?? 0)),
    'degrees grow towards the pole',
  )
})

test('a view of the whole world and more has a label at most every 84 pixels', () => {
  const world = { west: -250, south: -85.05, east: 290, north: 85.05, width: 768, height: 512 }
  for (const side of [longitudeSide(world), latitudeSide(world)]) {
    const places = side.ticks.map(({ at }) => at).sort((a, b) => a - b)
    assert.ok(places.length >= 2)
    for (const [index, at] of places.entries()) assert.ok(index === 0 || at - (places[index - 1] ?? 0) >= 84)
  }
  assert.deepEqual(
    longitudeSide(world).ticks.map(({ label }) => label),
    ['120°E', '180°', '120°W', '60°W', '0°', '60°E', '120°E', '180°', '120°W'],
  )
})
