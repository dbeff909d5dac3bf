import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeatureCollection } from '@graticule/client'
import { boundsOf } from './feature-bounds.ts'

const collection = (...geometries: unknown[]) =>
  ({
    type: 'FeatureCollection',
    features: geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
  }) as FeatureCollection

test('the bounds of features reach around all their positions, also inside of collections', () => {
  const point = { type: 'Point', coordinates: [5, 6, 700] }
  const line = {
    type: 'GeometryCollection',
    geometries: [
      {
        type: 'LineString',
        coordinates: [
          [-1, 2],
          [3, 9],
        ],
      },
    ],
  }
  assert.deepEqual(boundsOf(collection(point)), [5, 6, 5, 6])
  assert.deepEqual(boundsOf(collection(point, null, line)), [-1, 2, 5, 9])
  assert.equal(boundsOf(collection(null)), null)
})
