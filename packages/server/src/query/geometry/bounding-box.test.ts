import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boxesAround, slicesAround } from './bounding-box.ts'
import type { Box } from './geojson.ts'

const radiusMetres = 6_371_008.77
const radians = Math.PI / 180

function distanceBetween([x1, y1]: Position, [x2, y2]: Position): number {
  const [a, b] = [y1 * radians, y2 * radians]
  const half = (angle: number) => Math.sin(angle / 2) ** 2
  // The haversine: the arc cosine knows no distances below a decimetre.
  const square = half(b - a) + Math.cos(a) * Math.cos(b) * half((x2 - x1) * radians)
  return 2 * Math.asin(Math.min(1, Math.sqrt(square))) * radiusMetres
}

type Position = readonly [number, number]
const position: fc.Arbitrary<Position> = fc.tuple(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.double({ min: -90, max: 90, noNaN: true }),
)
const isIn = ([x, y]: Position, { west, south, east, north }: Box): boolean =>
  x >= west && x <= east && y >= south && y <= north

test('boxes and slices around an extent hold every position within the distance, over the antimeridian and the poles', () => {
  fc.assert(
    fc.property(position, position, position, fc.double({ min: 1, max: 1.5, noNaN: true }), (one, two, other, more) => {
      const extent = {
        west: Math.min(one[0], two[0]),
        south: Math.min(one[1], two[1]),
        east: Math.max(one[0], two[0]),
        north: Math.max(one[1], two[1]),
      }
      // From a corner of the extent, so the distance from the extent is not longer.
      const distance = distanceBetween(one, other) * more
      assert.ok(boxesAround(extent, distance).some((box) => isIn(other, box)))
      const slices = slicesAround(extent, distance)
      assert.ok(!slices || slices.some((box) => isIn(other, box)))
    }),
    { numRuns: 2_000 },
  )
})

test('slices leave out what is far from a place near a pole, also on its side of the pole', () => {
  const chukotka = { west: 179, south: 66, east: 179, north: 66 }
  const slices = slicesAround(chukotka, 3_000_000) ?? []
  const holds = (at: Position) => slices.some((box) => isIn(at, box))
  assert.ok(holds([-170, 50]) && holds([179, 45]) && holds([0, 89.5]))
  assert.ok(!holds([0, 80]) && !holds([90, 60]) && !holds([-90, 60]) && !holds([179, 35]))
  assert.equal(slicesAround(chukotka, 1_000_000), undefined)
})
