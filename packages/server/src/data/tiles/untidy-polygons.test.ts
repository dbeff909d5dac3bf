import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Ring, type UntidyShape, untidyShapes } from '../../../testing/hostile/untidy-shapes.ts'
import { featuresOf, type TileApp, tileApp } from '../../../testing/tiles.ts'
import { raw } from '../../kernel/db/sql.ts'
import type { Tile } from './mvt/projection.ts'

/**
 * Tiles of untidy polygons beside what ST_MakeValid makes of them, which ST_AsMVT draws on PostgreSQL and the test itself on the
 * embedded database, whose PostGIS cannot. ST_Transform is not used: that of PostGIS 3.3 wraps longitudes beyond 180.
 */

const half = 20037508.342789244
const hasTiles = process.env.TEST_DATABASE_URL !== undefined
const extent = 4096

type Point = [number, number]

/** Metres of web mercator, no farther than the map goes. */
function metresOf({ z, x, y }: Tile, [px, py]: Point): Point {
  const north = 1 - (2 * (y + py)) / 2 ** z
  return [((2 * (x + px)) / 2 ** z - 1) * half, Math.max(-1, Math.min(1, north)) * half]
}

/** Degrees; beyond the map there are the poles. */
function degreesOf({ z, x, y }: Tile, [px, py]: Point): Point {
  const north = 1 - (2 * (y + py)) / 2 ** z
  const latitude = (Math.atan(Math.sinh(Math.PI * north)) * 180) / Math.PI
  return [((x + px) / 2 ** z) * 360 - 180, Math.abs(north) > 1 ? 90 * Math.sign(north) : latitude]
}

const closed = (ring: Ring): Ring => [...ring, ring[0] as Point]

/** With points between those that it has, so that it is stored in more than 16 KiB. */
function dense(ring: Ring): Ring {
  const points = Math.ceil(1200 / ring.length)
  return ring.flatMap(([x, y], index) => {
    const [toX, toY] = ring[(index + 1) % ring.length] as Point
    return Array.from(
      { length: points },
      (_, at): Point => [x + ((toX - x) * at) / points, y + ((toY - y) * at) / points],
    )
  })
}

const wkt = (polygons: Ring[][], convert: (point: Point) => Point): string =>
  `MULTIPOLYGON(${polygons.map((rings) => `(${rings.map((ring) => `(${closed(ring).map((point) => convert(point).join(' '))})`)})`)})`

/**
 * Each shape with few points, with more than 16 KiB of them, and with more than 2 MiB, which the database cuts. Nothing but
 * that cut is the database's own work, so the embedded one is asked for the last alone.
 */
const sizes = hasTiles ? (['small', 'large', 'huge'] as const) : (['huge'] as const)
const shapes = untidyShapes.filter(({ isCut }) => hasTiles || isCut)

describe('a tile of untidy polygons covers what ST_MakeValid makes of them:', () => {
  let maps: TileApp
  const ids = new Map<string, string>()
  before(async () => {
    maps = await tileApp()
    for (const [index, shape] of shapes.entries()) await makeTables(index, shape)
  })
  after(() => maps.close())

  async function makeTables(index: number, { polygons, tile, isCut }: UntidyShape): Promise<void> {
    const degrees = (ring: Ring[][]) => `ST_GeomFromText('${wkt(ring, (point) => degreesOf(tile, point))}', 4326)`
    const metres = `ST_GeomFromText('${wkt(polygons, (point) => metresOf(tile, point))}', 3857)`
    await maps.script(`
      CREATE TABLE small_${index} (id int PRIMARY KEY, geom geometry(Geometry, 4326));
      INSERT INTO small_${index} VALUES (1, ${degrees(polygons)});
      CREATE TABLE large_${index} (id int PRIMARY KEY, geom geometry(Geometry, 4326));
      ALTER TABLE large_${index} ALTER geom SET STORAGE EXTERNAL;
      INSERT INTO large_${index} VALUES (1, ${degrees(polygons.map((rings) => rings.map(dense)))});
      CREATE TABLE plain_${index} AS SELECT ${metres} AS geom;
      CREATE TABLE huge_${index} (id int PRIMARY KEY, geom geometry(Geometry, 4326));
      ALTER TABLE huge_${index} ALTER geom SET STORAGE EXTERNAL;
      INSERT INTO huge_${index} SELECT 1, ST_SetSRID(ST_Transform(ST_Segmentize(geom, ST_Perimeter(geom) / 150000),
        '+proj=webmerc +datum=WGS84 +over', '+proj=longlat +datum=WGS84 +over'), 4326) FROM plain_${index} WHERE ${isCut}`)
    for (const size of sizes) ids.set(`${size} ${index}`, await maps.dataset({ source: `${size}_${index}` }))
  }

  /** What the valid geometry covers is the same for each size. */
  const known = new Map<string, Promise<Cover>>()
  function validCover(index: number, tile: Tile): Promise<Cover> {
    const key = `${index} ${tile.z}/${tile.x}/${tile.y}`
    const cover = known.get(key) ?? findValidRings(index, tile).then(coverOf)
    known.set(key, cover)
    return cover
  }

  /** The rings of the valid geometry in units of the tile, with those of the copies of the world beside it. */
  async function findValidRings(index: number, { z, x, y }: Tile): Promise<Ring[]> {
    const method = shapes[index]?.name === 'a hole that is all of its shell' ? ", 'method=structure'" : ''
    const copies = [-1, 0, 1].map((turn) => `ST_Translate(ST_MakeValid(geom${method}), ${turn * 2 * half}, 0)`)
    const valid = `ST_CollectionExtract(ST_Union(ARRAY[${copies}]), 3)`
    const box = `ST_TileEnvelope(${z}, ${x}, ${y})`
    const table = `${maps.schema}.plain_${index}`
    if (hasTiles) {
      const [row] = await maps.app.db.query<{ mvt: Buffer }>(
        raw(
          `SELECT ST_AsMVT(t, 'geometry') AS mvt FROM (SELECT ST_AsMVTGeom(${valid}, ${box}) AS g FROM ${table}) AS t`,
        ),
      )
      return ringsOf(row?.mvt ?? Buffer.alloc(0))
    }
    const [row] = await maps.app.db.query<{ json: string }>(
      raw(`SELECT ST_AsGeoJSON(${valid}, 15) AS json FROM ${table}`),
    )
    const { type, coordinates } = JSON.parse(row?.json ?? '')
    const place = ([east, north]: Point): Point => [
      ((east / half + 1) * 2 ** (z - 1) - x) * extent,
      ((1 - north / half) * 2 ** (z - 1) - y) * extent,
    ]
    return (type === 'Polygon' ? coordinates : coordinates.flat()).map((ring: Ring) => ring.map(place))
  }

  for (const [index, shape] of shapes.entries()) {
    for (const size of sizes) {
      if (size === 'huge' && !shape.isCut) continue
      test(`${shape.name}, ${size}`, async () => {
        const id = ids.get(`${size} ${index}`)
        for (const tile of tilesAround(shape.tile)) {
          const reply = await maps.get(`/tiles/${id}/${tile.z}/${tile.x}/${tile.y}.mvt`)
          assert.ok(reply.statusCode < 300, reply.body)
          const rings = ringsOf(reply.rawPayload)
          assertConforming(rings)
          assertSameCover(rings, await validCover(index, tile), `${size} ${tile.z}/${tile.x}/${tile.y}`)
        }
      })
    }
  }
})

/** The tile, the one above it, and those around its middle two zooms below. */
function tilesAround({ z, x, y }: Tile): Tile[] {
  const middle = [1, 2].flatMap((dx) => [1, 2].map((dy) => ({ z: z + 2, x: 4 * x + dx, y: 4 * y + dy })))
  return [{ z, x, y }, { z: z - 1, x: x >> 1, y: y >> 1 }, { z: 0, x: 0, y: 0 }, ...middle]
}

function ringsOf(bytes: Uint8Array): Ring[] {
  const [feature] = bytes.length > 0 ? featuresOf(bytes) : []
  return (feature?.loadGeometry() ?? []).map((path) => path.map(({ x, y }): Point => [x, y]))
}

/** As the format has it: an outer ring of positive area, its holes of negative area behind it, no ring without. */
function assertConforming(rings: Ring[]): void {
  const areas = rings.map((ring) => ring.slice(1).reduce((sum, [x, y], at) => sum + areaOf(ring[at] as Point, x, y), 0))
  assert.ok(!areas.includes(0), 'a ring without area')
  assert.ok((areas[0] ?? 1) > 0, 'a hole comes first')
  for (const ring of rings) assert.ok(ring.length >= 4)
}

const areaOf = ([x, y]: Point, toX: number, toY: number): number => x * toY - toX * y

/** Points of a lattice that are not at an edge, and whether they are covered. */
type Cover = { x: number; y: number; isInside: boolean }[]

function coverOf(valid: Ring[]): Cover {
  const step = 83
  const cover: Cover = []
  for (let x = step / 2; x < extent; x += step) {
    for (let y = step / 2; y < extent; y += step) {
      if (valid.some((ring) => isNear(ring, x, y))) continue
      cover.push({ x, y, isInside: crossings(valid, x, y).count % 2 === 1 })
    }
  }
  assert.ok(cover.length > 1000)
  return cover
}

/** By both of the rules that renderers fill by. */
function assertSameCover(ours: Ring[], valid: Cover, place: string): void {
  for (const { x, y, isInside } of valid) {
    const { count, winding } = crossings(ours, x, y)
    // Not assert.equal: a million messages would be written for nothing.
    if ((count % 2 === 1) === isInside && (winding !== 0) === isInside) continue
    const rule = (winding !== 0) === isInside ? 'even-odd' : 'nonzero'
    assert.fail(`${place}: ${x} ${y} is ${isInside ? 'inside' : 'outside'} (${rule})`)
  }
}

function crossings(rings: Ring[], x: number, y: number): { count: number; winding: number } {
  let [count, winding] = [0, 0]
  for (const ring of rings) {
    for (let at = 1; at < ring.length; at++) {
      const [ax, ay] = ring[at - 1] as Point
      const [bx, by] = ring[at] as Point
      if (ay > y === by > y || x >= ax + ((y - ay) / (by - ay)) * (bx - ax)) continue
      count++
      winding += by > ay ? 1 : -1
    }
  }
  return { count, winding }
}

function isNear(ring: Ring, x: number, y: number): boolean {
  const distance = 6
  return ring.slice(1).some(([bx, by], at) => {
    const [ax, ay] = ring[at] as Point
    const [dx, dy] = [bx - ax, by - ay]
    const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)))
    return Math.hypot(ax + along * dx - x, ay + along * dy - y) < distance
  })
}
