import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../testing/uploads/random.ts'
import type { Geometry, Position } from './geojson.ts'
import { crossesMoreThan } from './self-crossings.ts'

const polygon = (corners: readonly Position[]): Geometry => ({
  type: 'Polygon',
  coordinates: [[...corners, corners[0] as Position]],
})

function randomRing(corners: number): Position[] {
  const random = createRandom(1)
  return Array.from({ length: corners }, () => [random() * 10, random() * 10] as const)
}

test('crossings are counted in rings, between rings and between parts, and touching is none', () => {
  const bow: Position[] = [
    [0, 0],
    [2, 2],
    [2, 0],
    [0, 2],
  ]
  const square = (at: number): Position[] => [
    [at, at],
    [at + 2, at],
    [at + 2, at + 2],
    [at, at + 2],
    [at, at],
  ]
  assert.ok(crossesMoreThan(polygon(bow), 0))
  assert.ok(!crossesMoreThan(polygon(bow), 1))
  assert.ok(!crossesMoreThan(polygon(square(0)), 0))
  const parts = (at: number): Geometry => ({ type: 'MultiPolygon', coordinates: [[square(0)], [square(at)]] })
  assert.ok(crossesMoreThan(parts(1), 1))
  assert.ok(!crossesMoreThan(parts(1), 2))
  assert.ok(!crossesMoreThan(parts(2), 0), 'they share a corner')
  assert.ok(crossesMoreThan({ type: 'GeometryCollection', geometries: [parts(1)] }, 1))
})

test('rings with thousands of crossings are found at once, and rings without any are let pass at little cost', () => {
  const circle = Array.from({ length: 30_000 }, (_, n): Position => {
    const angle = (n / 30_000) * 2 * Math.PI
    return [Math.cos(angle), Math.sin(angle)]
  })
  const comb = Array.from({ length: 15_000 }, (_, n): Position => [n % 2 === 0 ? 0 : 10, n / 1_500])
  const begun = process.cpuUsage()
  assert.ok(crossesMoreThan(polygon(randomRing(900)), 500))
  assert.ok(crossesMoreThan(polygon(randomRing(16_000)), 500))
  assert.ok(!crossesMoreThan(polygon(circle), 500))
  assert.ok(!crossesMoreThan(polygon([...comb, [-1, 10], [-1, 0]]), 500))
  const { user, system } = process.cpuUsage(begun)
  assert.ok(user + system < 1_000_000, `${user + system} µs`)
})
