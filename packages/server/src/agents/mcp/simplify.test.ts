import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simplify } from './simplify.ts'

type Position = [number, number]
const circle = (count: number, [x, y]: Position = [0, 0], radius = 1): Position[] =>
  Array.from({ length: count + 1 }, (_, n) => {
    const angle = (2 * Math.PI * (n % count)) / count
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
const positions = (value: unknown): number =>
  Array.isArray(value) ? (typeof value[0] === 'number' ? 1 : value.reduce((sum, part) => sum + positions(part), 0)) : 0
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came out
const thinned = (type: string, coordinates: unknown) => simplify({ type, coordinates }) as any

test('a small geometry stays as it is', () => {
  for (const geometry of [
    { type: 'Point', coordinates: [1, 2] },
    { type: 'LineString', coordinates: circle(50) },
    { type: 'Polygon', coordinates: [circle(4)] },
    { type: 'GeometryCollection', geometries: [] },
    null,
  ]) {
    assert.equal(simplify(geometry), geometry)
  }
})

test('a large one keeps its ends, its form and a hundred positions at most', () => {
  const line = circle(50_000).slice(0, 25_001)
  const { coordinates } = thinned('LineString', line)
  assert.ok(coordinates.length > 8 && coordinates.length <= 100)
  assert.deepEqual([coordinates[0], coordinates.at(-1)], [line[0], line.at(-1)])
  for (const [x, y] of coordinates) assert.ok(Math.abs(Math.hypot(x, y) - 1) < 0.001)

  const [outer, ...holes] = thinned('Polygon', [
    circle(10_000),
    circle(10_000, [0, 0], 0.5),
    circle(10, [0, 0], 1e-6),
  ]).coordinates
  assert.deepEqual(outer[0], outer.at(-1), 'closed')
  assert.equal(holes.length, 1, 'a hole that nobody sees is gone')
  assert.ok(positions([outer, ...holes]) <= 100)

  const islands = Array.from({ length: 3_000 }, (_, n) => [
    circle(20, [n % 60, Math.floor(n / 60)], n === 7 ? 20 : 0.01),
  ])
  const kept = thinned('MultiPolygon', islands).coordinates
  assert.ok(positions(kept) <= 100 && kept.length >= 1)
  assert.ok(kept.every(([ring]: Position[][]) => (ring?.length ?? 0) >= 4))

  assert.ok(positions(thinned('MultiPoint', circle(9_999)).coordinates) <= 101)
  assert.ok(positions(thinned('MultiLineString', [circle(9_999), circle(5)]).coordinates) <= 100)
})

test('the worst line takes no time', () => {
  const spikes = Array.from({ length: 200_000 }, (_, n): Position => [2 ** (-n / 50), n % 2 === 0 ? 0 : 2 ** (-n / 50)])
  const begun = performance.now()
  assert.ok(thinned('LineString', spikes).coordinates.length <= 100)
  assert.ok(performance.now() - begun < 10_000)
})

test('rings that collapse, and positions that are all the same, are still geometry', () => {
  const same = Array.from({ length: 500 }, (): Position => [1, 2])
  assert.ok(thinned('Polygon', [same]).coordinates[0].length >= 4)
  assert.equal(thinned('LineString', same).coordinates.length, 2)
})
