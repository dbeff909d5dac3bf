import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseWkb } from '../geometry/encoding/wkb-geojson.ts'
import { geometryText } from '../values/geometry-text.ts'
import { rounded, rowReader } from './wkb-cells.ts'

test('coordinates are rounded to nine decimals as toFixed rounds them', () => {
  const nearMiddle = fc
    .tuple(fc.integer({ min: -180e9, max: 180e9 }), fc.double({ min: 0.498, max: 0.502, noNaN: true }))
    .map(([whole, rest]) => (whole + rest) / 1e9)
  const any = fc.oneof(fc.double(), fc.double({ min: -180, max: 180, noNaN: true }), nearMiddle)
  const property = fc.property(any, (value) => {
    const [actual, expected] = [rounded(value), Number(value.toFixed(9))]
    assert.ok(Object.is(actual, expected) || (actual === 0 && expected === 0), `${value}: ${actual}, ${expected}`)
  })
  fc.assert(property, { numRuns: 20_000 })
})

test('a cell that is no geometry is null, and others are GeoJSON with their heights', () => {
  const read = rowReader([{ name: 'place', type: 'geometry', srid: 4326 }], {})
  const placeOf = (hex: string) => read([hex]).place
  assert.equal(placeOf('0101'), null)
  // The point that is nowhere, and one at 1 2 3.
  assert.equal(placeOf('0101000000000000000000f87f000000000000f87f'), null)
  assert.deepEqual(placeOf('01e9030000000000000000f03f00000000000000400000000000000840'), {
    type: 'Point',
    coordinates: [1, 2, 3],
  })
  assert.equal(read([null]).place, null)
})

test('a geometry written as WKB is the one written as GeoJSON, with its heights and its rings turned alike', () => {
  const clockwise = [
    [0, 0],
    [0, 4],
    [4, 4],
    [4, 0],
    [0, 0],
  ]
  for (const geometry of [
    { type: 'Point', coordinates: [1, 2, 3] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [179.123456789, -1],
      ],
    },
    { type: 'Polygon', coordinates: [clockwise] },
    {
      type: 'MultiPolygon',
      coordinates: [
        [clockwise],
        [
          [
            [9, 9],
            [10, 9],
            [10, 10],
            [9, 9],
          ],
        ],
      ],
    },
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: [1, 2] },
        { type: 'Polygon', coordinates: [clockwise] },
      ],
    },
  ]) {
    const cell = geometryText(geometry, 'wkb') ?? ''
    assert.deepEqual(parseWkb(Buffer.from(cell, 'hex'))?.geometry, JSON.parse(geometryText(geometry, 'geojson') ?? ''))
  }
  assert.equal(geometryText({ type: 'Point', coordinates: ['a'] }, 'wkb'), null)
})
