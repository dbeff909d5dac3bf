import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../../dataset.ts'
import { drawnKinds, geometryOfParts, partsOf, takesSeveral } from './drawn-geometry.ts'

const column = (geometryType: string, dimension = 2) =>
  ({ name: 'geom', type: 'geometry', geometryType, dimension }) as DatasetAttribute
const square = [[[0, 0], [1, 0], [1, 1], [0, 0]]] // biome-ignore format: one line
const hole = [[[0, 0], [9, 0], [9, 9], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]] // biome-ignore format: one line

test('a geometry that is drawn on is the same where nothing is moved, with its parts and holes', () => {
  const geometries: [string, object][] = [
    ['Point', { type: 'Point', coordinates: [24.94, 60.17] }],
    ['LineString', { type: 'LineString', coordinates: [[0, 0], [1, 1]] }],
    ['Polygon', { type: 'Polygon', coordinates: hole }],
    ['MultiPolygon', { type: 'MultiPolygon', coordinates: [square, hole] }],
    ['MultiPolygon', { type: 'MultiPolygon', coordinates: [square] }],
    ['MultiPoint', { type: 'MultiPoint', coordinates: [[0, 0], [1, 1]] }],
    ['Geometry', { type: 'MultiLineString', coordinates: [[[0, 0], [1, 1]], [[2, 2], [3, 3]]] }],
    ['Geometry', { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [0, 0] }, { type: 'Polygon', coordinates: square }] }],
  ] // biome-ignore format: a geometry a line
  for (const [type, geometry] of geometries)
    assert.deepEqual(geometryOfParts(partsOf(geometry) ?? [], column(type)), geometry)
  assert.equal(geometryOfParts([], column('Polygon')), null)
  assert.deepEqual(partsOf(null), [])
})

test('what a map cannot draw is left to its text: heights, more positions than a hand can move, what is no geometry', () => {
  assert.equal(partsOf({ type: 'Point', coordinates: [1, 2, 3] }), undefined)
  assert.equal(partsOf({ type: 'LineString', coordinates: Array.from({ length: 5_001 }, () => [0, 0]) }), undefined)
  assert.equal(partsOf({ type: 'Circle', coordinates: [] }), undefined)
  assert.deepEqual(drawnKinds(column('Polygon', 3)), [])
  assert.deepEqual([drawnKinds(column('MultiLineString')), drawnKinds(column('Geometry')).length], [['LineString'], 3])
  assert.deepEqual(['Point', 'MultiPoint', 'Geometry'].map((type) => takesSeveral(column(type))), [false, true, true]) // biome-ignore format: one line
})
