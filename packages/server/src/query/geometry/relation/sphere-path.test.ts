import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Position } from '../geojson.ts'
import { distance, nearestOfCorners } from './sphere.ts'
import { findNearest, type Path, pathOf, type Search } from './sphere-path.ts'

const circle = (corners: number, radius: number, latitude: number): Position[] =>
  Array.from({ length: corners + 1 }, (_, index) => {
    const angle = (2 * Math.PI * index) / corners
    return [10 + radius * Math.cos(angle), latitude + radius * Math.sin(angle)]
  })

function searchOf(pairsLeft: number): Search {
  return { best: { chord: Infinity }, enough: 0, pairsLeft, tooMany: () => new Error('Too many pairs') }
}

/** Answers how many pairs of balls were looked at. */
function pairsOf(search: Search, path: Path, other: Path): number {
  const before = search.pairsLeft
  findNearest(search, path.ball, other.ball)
  return before - search.pairsLeft
}

test('the nearest positions of lines with 50 000 corners are found among few pairs of their parts', () => {
  const path = pathOf(circle(50_000, 5, 50))
  assert.ok(pairsOf(searchOf(1_000_000), path, pathOf([[40, 55]])) < 1_000)
  assert.ok(pairsOf(searchOf(1_000_000), path, pathOf(circle(50_000, 5, 30))) < 50_000)
})

test('a search for the nearest positions finds those that looking at every edge finds', () => {
  for (const [corners, radius, latitude] of [
    [3, 1, 40],
    [7, 4, 20],
    [100, 30, 0],
    [333, 2, 57],
  ] as const) {
    const [path, other] = [pathOf(circle(200, 5, 50)), pathOf(circle(corners, radius, latitude))]
    const search = searchOf(1_000_000)
    pairsOf(search, path, other)
    const half = nearestOfCorners(path.vectors, other.vectors, { chord: Infinity })
    const whole = nearestOfCorners(other.vectors, path.vectors, half)
    assert.ok(search.best.chord === 0 || Math.abs(search.best.chord - whole.chord) < 1e-12, `${corners} corners`)
    assert.ok(whole.from && whole.to && Math.abs(distance(whole.from, whole.to) - whole.chord) < 1e-12)
  }
})

test('a search ends in an error when it would look at too many pairs', () => {
  assert.throws(
    () => pairsOf(searchOf(100), pathOf(circle(999, 5, 50)), pathOf(circle(999, 5.001, 50))),
    /Too many pairs/,
  )
})
