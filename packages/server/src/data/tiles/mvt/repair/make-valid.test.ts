import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import fc from 'fast-check'
import { PbfReader } from 'pbf'
import { type TestDatabase, testDatabase } from '../../../../../testing/database.ts'
import { sql } from '../../../../kernel/db/sql.ts'
import { createTileEncoder } from '../tile-encoder.ts'

// One database is enough: PostGIS is only asked for areas, and the encoder sees no database.

type Point = [number, number]
type Ring = Point[]
type Polygons = Ring[][]

const seed = Number(process.env.TEST_SEED ?? 1)
/** The same ones each time, unless it is --random that looks for new ones. */
const shapeCount = process.env.TEST_RANDOM ? 300 : 100
const extent = 4096
const half = 20037508.342789244
/** In the middle of the world, so that nothing is seen of its copies. */
const tile = { z: 3, x: 3, y: 3 }

/** Units of the tile as metres. */
const metres = ([x, y]: Point): Point => [
  ((x / extent + tile.x) / 2 ** (tile.z - 1) - 1) * half,
  (1 - (y / extent + tile.y) / 2 ** (tile.z - 1)) * half,
]

const closed = (ring: Ring): Ring => [...ring, ring[0] as Point]

/** The rings that the encoder makes of polygons in units of the tile. */
function encoded(polygons: Polygons, buffer = 0): Ring[] {
  const columns = [{ name: 'geom', kind: 'geometry' as const }]
  const encoder = createTileEncoder({ tile, projection: 'mercator', columns, buffer })
  const coordinates = polygons.map((rings) => rings.map((ring) => closed(ring).map(metres)))
  encoder.addFeature([{ type: 'MultiPolygon', coordinates }])
  const { bytes, shown, invalid } = encoder.finish()
  assert.equal(invalid, 0)
  if (shown === 0) return []
  const feature = new VectorTile(new PbfReader(bytes)).layers.geometry?.feature(0)
  return (feature?.loadGeometry() ?? []).map((path) => path.slice(0, -1).map(({ x, y }): Point => [x, y]))
}

/** Twice the area, positive for outer rings. */
const signedArea = (ring: Ring): number =>
  ring.reduce((sum, [x, y], index) => {
    const [lastX, lastY] = ring.at(index - 1) as Point
    return sum + lastX * y - x * lastY
  }, 0)

function crossings(rings: Ring[], x: number, y: number): { count: number; winding: number } {
  let [count, winding] = [0, 0]
  for (const ring of rings) {
    for (const [index, [bx, by]] of ring.entries()) {
      const [ax, ay] = ring.at(index - 1) as Point
      if (ay > y === by > y || x >= ax + ((y - ay) / (by - ay)) * (bx - ax)) continue
      count++
      winding += by > ay ? 1 : -1
    }
  }
  return { count, winding }
}

const distance = 3
const isNear = (rings: Ring[], x: number, y: number): boolean =>
  rings.some((ring) =>
    ring.some(([bx, by], index) => {
      const [ax, ay] = ring.at(index - 1) as Point
      const [dx, dy] = [bx - ax, by - ay]
      const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)))
      return Math.hypot(ax + along * dx - x, ay + along * dy - y) < distance
    }),
  )

/** Scribbles between two corners, of points that are anywhere or on a lattice, where they meet all the time. */
const anyPolygons = (most: number): fc.Arbitrary<Polygons> =>
  fc
    .record({
      least: fc.integer({ min: -3000, max: 3000 }),
      size: fc.constantFrom(10, 100, 1000, 4000),
      lattice: fc.constantFrom(0.01, 1, 1 / 8),
    })
    .chain(({ least, size, lattice }) => {
      const step = lattice < 1 ? size * lattice : 1
      const place = fc.integer({ min: 0, max: Math.floor(size / step) }).map((steps) => least + steps * step)
      const ring = fc.array(fc.tuple(place, place), { minLength: 3, maxLength: 24 })
      return fc.array(fc.array(ring, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: most })
    })

function assertConforming(rings: Ring[]): void {
  for (const [index, ring] of rings.entries()) {
    assert.ok(ring.length >= 3)
    assert.notEqual(signedArea(ring), 0, 'a ring without area')
    if (index === 0) assert.ok(signedArea(ring) > 0, 'a hole comes first')
    // At the border of the tile rings may run over themselves.
    const within = ring.filter((point) => point.every((value) => value > 0 && value < extent))
    assert.equal(new Set(within.map(String)).size, within.length, 'a ring passes a point twice')
  }
}

/** Compares the cover with what is expected at points of a lattice that are not at an edge. */
function assertCover(
  source: Ring[],
  rings: Ring[],
  isCovered: (x: number, y: number) => boolean,
  isSame: (covered: boolean, found: { count: number; winding: number }) => boolean,
): void {
  for (let x = 17; x < extent; x += 211) {
    for (let y = 23; y < extent; y += 223) {
      if (isNear(source, x, y)) continue
      const [covered, found] = [isCovered(x, y), crossings(rings, x, y)]
      assert.ok(isSame(covered, found), `${x} ${y} is ${covered ? 'inside' : 'outside'}: ${JSON.stringify(found)}`)
    }
  }
}

const isInside = (rings: Ring[], x: number, y: number): boolean => crossings(rings, x, y).count % 2 === 1

describe('of any polygons', () => {
  test('a tile conforms to the format and covers what an odd number of the rings of one is around', () => {
    fc.assert(
      fc.property(anyPolygons(1), (polygons) => {
        fc.pre(!isCollapsed(polygons))
        const rings = encoded(polygons)
        assertConforming(rings)
        const source = polygons.flat()
        assertCover(
          source,
          rings,
          (x, y) => isInside(source, x, y),
          (covered, { count, winding }) => count % 2 === winding && winding === (covered ? 1 : 0),
        )
      }),
      { seed, numRuns: shapeCount },
    )
  })

  test('a tile covers what any of several is around', () => {
    fc.assert(
      fc.property(anyPolygons(4), (polygons) => {
        fc.pre(!isCollapsed(polygons))
        const rings = encoded(polygons)
        assertConforming(rings)
        assertCover(
          polygons.flat(),
          rings,
          (x, y) => polygons.some((polygon) => isInside(polygon, x, y)),
          (covered, { winding }) => (winding !== 0) === covered,
        )
      }),
      { seed, numRuns: shapeCount },
    )
  })
})

/** The holes of a shell without area may go with it, or not. */
const isCollapsed = (polygons: Polygons): boolean =>
  polygons.some(([shell = [], ...holes]) => {
    const [[x, y] = [0, 0]] = shell
    const isFlat = shell.every(([px, py], index) => {
      const [qx, qy] = shell.at(index - 1) as Point
      return Math.abs((px - x) * (qy - y) - (py - y) * (qx - x)) <= 4 * (Math.abs(px - x) + Math.abs(py - y))
    })
    return holes.length > 0 && isFlat
  })

describe('beside ST_MakeValid', () => {
  let database: TestDatabase
  before(async () => {
    database = await testDatabase()
  })
  after(() => database.close())

  test('random polygons have the same area in a tile', async () => {
    // Nowhere in particular: what ST_MakeValid makes of edges that lie on each other is its own affair.
    const place = fc.noBias(fc.integer({ min: 1e6, max: (extent - 1) * 1e6 })).map((value) => value / 1e6)
    const ring = fc.array(fc.tuple(place, place), { minLength: 3, maxLength: 16 })
    const shapes = fc.sample(fc.array(fc.array(ring, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }), {
      seed,
      numRuns: shapeCount,
    })
    const text = (rings: Ring[]): string =>
      `POLYGON(${rings.map((points) => `(${closed(points).map((point) => point.join(' '))})`)})`
    const rows = await database.db.query<{ area: number; length: number }>(sql`
      SELECT ST_Area(ST_Union(valid)) AS area, sum(length) AS length
      FROM (SELECT shape::int4, ST_MakeValid(polygon::geometry) AS valid, ST_Perimeter(polygon::geometry) AS length
            FROM unnest(${shapes.flatMap((polygons) => polygons.map(text))}::text[],
              ${shapes.flatMap((polygons, index) => polygons.map(() => index))}::int4[]) AS s(polygon, shape)) AS parts
      GROUP BY shape ORDER BY shape`)
    assert.equal(rows.length, shapes.length)
    for (const [index, { area, length }] of rows.entries()) {
      const ours = encoded(shapes[index] as Polygons).reduce((sum, points) => sum + signedArea(points) / 2, 0)
      // Each point is moved by less than a unit.
      assert.ok(Math.abs(ours - area) <= length, `${index}: ${ours} and ${area}, ${length} around`)
    }
  })
})
