import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Geometry, isBox, type Position } from './geojson.ts'

const corners: Record<string, Position> = { a: [0, 0], b: [2, 0], c: [2, 1], d: [0, 1], m: [1, 0] }
const ring = (names: string): Position[] => [...names].map((name) => corners[name] ?? [9, 9])
const polygon = (...rings: string[]): Geometry => ({ type: 'Polygon', coordinates: rings.map(ring) })

test('a box is its four corners in turn, from any of them and either way round', () => {
  for (const names of ['abcda', 'adcba', 'cdabc']) assert.ok(isBox(polygon(names)), names)
  for (const names of ['ababa', 'acbda', 'abmba', 'abcdma']) assert.ok(!isBox(polygon(names)), names)
  assert.ok(!isBox(polygon('abcda', 'abcda')))
  assert.ok(!isBox({ type: 'LineString', coordinates: ring('abcda') }))
})
