import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../kernel/errors.ts'
import type { Geometry, Position } from '../geojson.ts'
import { allowVisits, createEdgeTree, type EdgeTree, edgesEastOf, edgesNear } from './edge-tree.ts'
import { intersectionTest } from './intersection.ts'
import { planarShape } from './planar-shape.ts'

const corners = 50_000

function circle(radius: number, step = 1): Geometry {
  const ring = Array.from({ length: corners }, (_, index): Position => {
    const angle = (2 * Math.PI * index * step) / corners
    return [radius * Math.cos(angle), radius * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0] ?? [0, 0]]] }
}

function visitsOf(tree: EdgeTree, search: () => unknown): number {
  allowVisits(tree)
  const before = tree.visitsLeft
  search()
  return before - tree.visitsLeft
}

/** Numbers that look random and are the same every time. */
const scattered = (index: number): number => (Math.imul(index + 1, 2654435761) >>> 0) / 2 ** 32

test('a search visits few nodes of a polygon with 50 000 corners, and of as many scattered points', () => {
  const { tree } = planarShape(circle(5), true)
  assert.ok(visitsOf(tree, () => edgesNear(tree, 4.9, -0.01, 5.1, 0.01)) < 500)
  assert.ok(visitsOf(tree, () => edgesEastOf(tree, 1, 1)) < 500)
  const points: Position[] = Array.from({ length: corners }, (_, index) => [scattered(index), scattered(-index)])
  const spread = planarShape({ type: 'MultiPoint', coordinates: points }, true)
  assert.ok(visitsOf(spread.tree, () => edgesNear(spread.tree, 0.5, 0.5, 0.51, 0.51)) < 500)
})

test('a search finds exactly the edges whose boxes meet the box, whatever their number and order', () => {
  for (const count of [0, 1, 2, 7, 8, 9, 64, 65, 700]) {
    const ends = Array.from({ length: count * 4 }, (_, index) => Math.floor(scattered(index) * 100))
    const starts = Array.from({ length: count }, (_, index) => index).filter((index) => index % 3 === 0)
    for (const tree of [createEdgeTree(ends), createEdgeTree(ends, starts)]) {
      for (let at = 0; at < 90; at += 7) {
        const found = edgesNear(tree, at, at, at + 5, at + 9).toSorted((a, b) => a - b)
        assert.deepEqual(found, edgesByScan(ends, at, at, at + 5, at + 9), `${count} edges`)
      }
    }
  }
})

function edgesByScan(ends: readonly number[], west: number, south: number, east: number, north: number): number[] {
  return Array.from({ length: ends.length / 4 }, (_, edge) => edge).filter((edge) => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = ends.slice(edge * 4, edge * 4 + 4)
    const meetsX = Math.min(x1, x2) <= east && Math.max(x1, x2) >= west
    return meetsX && Math.min(y1, y2) <= north && Math.max(y1, y2) >= south
  })
}

test('two geometries whose edges nearly all overlap are refused in words, not compared for minutes', () => {
  const star = circle(5, 19_099)
  const meets = intersectionTest(star)
  assert.throws(
    () => meets(circle(5.2)),
    (error) =>
      error instanceof ApiError && error.code === 'invalid_filter' && /Simplify the geometry/.test(error.message),
  )
  // The next row is compared all the same.
  assert.equal(meets({ type: 'Point', coordinates: [20, 20] }), false)
  assert.equal(meets({ type: 'Point', coordinates: [5, 0] }), true)
})
