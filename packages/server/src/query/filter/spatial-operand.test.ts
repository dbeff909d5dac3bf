import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../testing/uploads/random.ts'
import { ApiError } from '../../kernel/errors.ts'
import { parseFilter } from './filter.ts'

const attribute = { name: 'geom', type: 'geometry' } as const
const attributes = new Map([['geom', attribute]])
const parse = (operators: unknown) => parseFilter({ geom: operators }, attributes)
const point = { type: 'Point', coordinates: [8, 50] }

function refused(operators: unknown, path: string, message: RegExp): void {
  assert.throws(
    () => parse(operators),
    (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'invalid_filter')
      assert.equal(error.faults[0]?.path, `query/filter/geom/${path}`)
      assert.match(error.message, message)
      return true
    },
  )
}

test('a geometry is GeoJSON or its text; heights and foreign members are dropped', () => {
  const expected = { kind: 'intersects', attribute, geometry: point }
  assert.deepEqual(parse({ $intersects: point }), expected)
  assert.deepEqual(parse({ $intersects: JSON.stringify(point) }), expected)
  assert.deepEqual(parse({ $intersects: { ...point, crs: {}, coordinates: [8, 50, 300] } }), expected)
  assert.deepEqual(parse({ $within: point }), { ...expected, kind: 'within' })
})

test('every type of geometry is taken, in its structure only', () => {
  const line = [
    [8, 50],
    [9, 51],
  ]
  const ring = [...line, [9, 50], [8, 50]]
  const sound = [
    point,
    { type: 'MultiPoint', coordinates: line },
    { type: 'LineString', coordinates: line },
    { type: 'MultiLineString', coordinates: [line, line] },
    { type: 'Polygon', coordinates: [ring] },
    { type: 'MultiPolygon', coordinates: [[ring], [ring]] },
  ]
  for (const geometry of [...sound, { type: 'GeometryCollection', geometries: sound }]) {
    assert.deepEqual(parse({ $intersects: geometry }), { kind: 'intersects', attribute, geometry })
  }
  refused({ $intersects: 'x' }, '$intersects', /must be JSON, not "x"/)
  refused({ $intersects: 5 }, '$intersects', /must be a GeoJSON geometry/)
  refused({ $intersects: [8, 50] }, '$intersects', /four numbers/)
  refused({ $intersects: { type: 'Feature', geometry: point } }, '$intersects', /must be a GeoJSON geometry/)
  refused({ $intersects: { type: 'toString' } }, '$intersects', /must be a GeoJSON geometry/)
  const nested = { type: 'GeometryCollection', geometries: [{ type: 'GeometryCollection', geometries: [point] }] }
  refused({ $intersects: nested }, '$intersects/geometries/0', /must be a GeoJSON geometry/)
  refused({ $intersects: { type: 'Point' } }, '$intersects/coordinates', /must be a position/)
  for (const coordinates of [[], [8], ['8', '50'], [8, null], [1, 2, 3, 4, 5], { 0: 8, 1: 50 }]) {
    refused({ $intersects: { type: 'Point', coordinates } }, '$intersects/coordinates', /must be a position/)
  }
  refused({ $intersects: { type: 'LineString', coordinates: [[8, 50]] } }, '$intersects/coordinates', /two positions/)
  const open = { type: 'Polygon', coordinates: [[...line, [9, 50], [8, 49]]] }
  refused({ $intersects: open }, '$intersects/coordinates/0', /last equal to the first/)
  refused({ $intersects: { type: 'Polygon', coordinates: [[...line, [8, 50]]] } }, '$intersects/coordinates/0', /four/)
  refused({ $intersects: { type: 'MultiPoint', coordinates: [] } }, '$intersects', /empty geometry/)
  refused({ $intersects: { type: 'Polygon', coordinates: [] } }, '$intersects', /empty geometry/)
  refused({ $intersects: { type: 'Point', coordinates: [181, 0] } }, '$intersects', /must lie within/)
  refused({ $intersects: { type: 'Point', coordinates: [0, -91] } }, '$intersects', /must lie within/)
})

test('a geometry has at most 30 000 positions, and more are refused as over that limit', () => {
  const positions = (length: number) => Array.from({ length }, () => [8, 50])
  assert.doesNotThrow(() => parse({ $intersects: { type: 'MultiPoint', coordinates: positions(30_000) } }))
  refused({ $intersects: { type: 'MultiPoint', coordinates: positions(30_001) } }, '$intersects', /more than 30000/)
  const lines = { type: 'MultiLineString', coordinates: Array.from({ length: 15_001 }, () => positions(2)) }
  assert.throws(() => parse({ $intersects: lines }), { extensions: { limit: 30_000, limitName: 'filterPositions' } })
})

test('an area whose edges cross each other in more than 500 places is refused, since its repair takes seconds', () => {
  const random = createRandom(1)
  const ring = (corners: number) => {
    const positions = Array.from({ length: corners }, () => [random() * 10, random() * 10])
    return { type: 'Polygon', coordinates: [[...positions, positions[0]]] }
  }
  assert.doesNotThrow(() => parse({ $intersects: ring(30) }))
  for (const corners of [200, 900, 8_000]) {
    refused({ $intersects: ring(corners) }, '$intersects', /cross each other in more than 500 places/)
    assert.throws(() => parse({ $within: ring(corners) }), {
      extensions: { limit: 500, limitName: 'areaCrossings' },
    })
  }
})

test('a box is four numbers in any form of list', () => {
  const boxes = [[1, 2, 3, 4], '1,2,3,4', '[1,2,3,4]', ['1', '2', '3', '4'], { 0: '1', 1: '2', 2: '3', 3: '4' }]
  for (const box of boxes) assert.deepEqual(parse({ $bbox: box }), parse({ $bbox: boxes[0] }))
  refused({ $bbox: [1, 2, 3] }, '$bbox', /four numbers/)
  refused({ $bbox: '' }, '$bbox', /four numbers/)
  refused({ $bbox: [1, 2, 3, 4, 5, 6] }, '$bbox', /four numbers/)
  refused({ $bbox: [1, 2, 'x', 4] }, '$bbox/2', /must be a number, not "x"/)
  refused({ $bbox: [1, 4, 3, 2] }, '$bbox', /south is greater than north/)
  refused({ $bbox: [1, -91, 3, 2] }, '$bbox', /within -90/)
})

test('$dwithin takes a point or a geometry and a distance, also as text', () => {
  const expected = { kind: 'dwithin', attribute, geometry: point, distanceMetres: 100 }
  assert.deepEqual(parse({ $dwithin: { point: [8, 50], distance: 100 } }), expected)
  assert.deepEqual(parse({ $dwithin: { point: '8,50', distance: '100' } }), expected)
  assert.deepEqual(parse({ $dwithin: { geometry: point, distance: 1e2 } }), expected)
  assert.deepEqual(parse({ $dwithin: JSON.stringify({ geometry: point, distance: 100 }) }), expected)
  refused({ $dwithin: 5 }, '$dwithin', /must be an object/)
  refused({ $dwithin: { distance: 5 } }, '$dwithin', /either geometry or point/)
  refused({ $dwithin: { geometry: point, point: [8, 50], distance: 5 } }, '$dwithin', /either geometry or point/)
  refused({ $dwithin: { point: [8, 50] } }, '$dwithin/distance', /must be a number/)
  refused({ $dwithin: { point: [8, 50], distance: -1 } }, '$dwithin/distance', /negative/)
  refused({ $dwithin: { point: [8], distance: 1 } }, '$dwithin/point/coordinates', /must be a position/)
  refused(
    { $dwithin: { point: [8, 50], distance: 1, unit: 'km' } },
    '$dwithin/unit',
    /Allowed: geometry, point, distance/,
  )
})

test('$intersects and $within take a box as $bbox does', () => {
  for (const box of [[1, 2, 3, 4], '1,2,3,4', '[1,2,3,4]', { 0: '1', 1: '2', 2: '3', 3: '4' }]) {
    assert.deepEqual(parse({ $intersects: box }), parse({ $bbox: [1, 2, 3, 4] }))
    const square = [1, 2, 3, 2, 3, 4, 1, 4, 1, 2]
    const ring = Array.from({ length: 5 }, (_, index) => square.slice(2 * index, 2 * index + 2))
    assert.deepEqual(parse({ $within: box }), parse({ $within: { type: 'Polygon', coordinates: [ring] } }))
  }
  const across = [170, -10, -170, 10]
  assert.deepEqual(parse({ $intersects: across }), parse({ $bbox: across }))
  const { geometry } = parse({ $within: across }) as unknown as { geometry: { type: string; coordinates: unknown[] } }
  assert.deepEqual([geometry.type, geometry.coordinates.length], ['MultiPolygon', 2])
  const line = parse({ $within: [170, 5, -170, 5] }) as unknown as { geometry: { type: string } }
  assert.equal(line.geometry.type, 'MultiLineString')
  const edge = parse({ $within: [180, -10, -170, 10] }) as unknown as { geometry: { type: string } }
  assert.equal(edge.geometry.type, 'Polygon')
  refused({ $within: [1, 2, 3] }, '$within', /west, south, east, north/)
  refused({ $intersects: [1, 9, 3, 4] }, '$intersects', /south/)
})
