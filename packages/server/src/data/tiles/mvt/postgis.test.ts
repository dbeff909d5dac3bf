import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import pg from 'pg'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import type { TileColumn } from './columns.ts'
import { createTileEncoder } from './tile-encoder.ts'

type Tile = { z: number; x: number; y: number }
type Path = { x: number; y: number }[]

/**
 * How far a vertex of one may lie from the outline of the other, in units. Both round to the same grid, each up to √2/2 off.
 * But ST_AsMVTGeom first leaves out vertices less than half a unit from the one before, and then those less than half a unit
 * from the line between their neighbours.
 */
const tolerance = 1 + Math.SQRT2
/** What is no larger than this, in units, may be there or not: simplifying or making valid drops it. */
const speck = 2

const ring = (radius: string, turns: string) => `
  (SELECT ST_MakePolygon(ST_AddPoint(l, ST_StartPoint(l))) FROM (SELECT ST_MakeLine(ARRAY(
    SELECT ST_MakePoint(cx + ${radius} * (0.6 + 0.4 * sin(k * ${turns})) * cos(k * 2 * pi() / 36),
                        cy + ${radius} * (0.6 + 0.4 * sin(k * ${turns})) * sin(k * 2 * pi() / 36))
    FROM generate_series(0, 35) k ORDER BY k)) AS l) s)`
const walk = `ST_MakeLine(ARRAY(SELECT ST_MakePoint(cx + r * k * cos(k * (g % 7 + 1) * 0.3) / 12, cy + r * sin(k * (g % 5 + 1) * 0.4))
  FROM generate_series(1, 30) k ORDER BY k))`
const places = (count: number, srid: number) => `
  (SELECT g, -140 + random() * 280 AS cx, -60 + random() * 120 AS cy, 0.001 * 10 ^ (random() * 3.9) AS r,
    ${srid}::int AS srid FROM generate_series(1, ${count}) g) p`

const donut = `ST_Difference(${ring('r', '0.7')}, ST_Scale(${ring('r', '0.7')}, ST_MakePoint(0.4, 0.4), ST_MakePoint(cx, cy)))`
const tables = {
  points: `SELECT g AS id, ST_SetSRID(ST_MakePoint(cx, cy), 4326) AS geom FROM ${places(3000, 4326)}`,
  lines: `SELECT g AS id, ST_SetSRID(${walk}, 4326) AS geom FROM ${places(400, 4326)}`,
  polygons: `SELECT g AS id, ST_SetSRID(${donut}, 4326) AS geom FROM ${places(400, 4326)}`,
  multis: `SELECT g AS id, ST_SetSRID(CASE g % 3
      WHEN 0 THEN ST_Collect(ARRAY[ST_MakePoint(cx, cy), ST_MakePoint(cx + r, cy), ST_MakePoint(cx, cy - r)])
      WHEN 1 THEN ST_Collect(${walk}, ST_Translate(${walk}, r, r))
      ELSE ST_Collect(${donut}, ST_Translate(${donut}, 3 * r, 0)) END, 4326) AS geom FROM ${places(400, 4326)}`,
  metres: `SELECT g AS id, ST_Transform(ST_SetSRID(${donut}, 4326), 3857) AS geom FROM ${places(400, 3857)}
    WHERE abs(cy) + r < 84`,
  projected: `SELECT g AS id, ST_SetSRID(ST_MakeLine(ST_MakePoint(x, y), ST_MakePoint(x + 1000 * (g % 9), y + 700 * (g % 11))),
      25832) AS geom FROM (SELECT g, 300000 + random() * 500000 AS x, 5300000 + random() * 700000 AS y
      FROM generate_series(1, 400) g) s`,
}
type Table = keyof typeof tables

const columns: TileColumn[] = [
  { name: 'id', kind: 'integer', isKey: true, isHidden: true },
  { name: 'name', kind: 'text' },
  { name: 'size', kind: 'integer' },
  { name: 'share', kind: 'number' },
  { name: 'ratio', kind: 'number' },
  { name: 'flag', kind: 'boolean' },
  { name: 'geom', kind: 'geometry' },
]
const attributes = `CASE WHEN id % 5 > 0 THEN 'näme ' || id % 40 END AS name, (id - 50) * 3 AS size,
  id / 7.0::float8 AS share, (id / 3.0)::float4 AS ratio, id % 2 = 0 AS flag`

let random = 42
const chance = (): number => {
  random = (random * 48271) % 2147483647
  return random / 2147483647
}

describe('beside PostGIS', { skip: !process.env.TEST_DATABASE_URL, timeout: 240_000 }, () => {
  let database: TestDatabase
  let client: pg.Client
  const rows = new Map<Table, { columns: TileColumn[]; values: unknown[][] }>()

  before(async () => {
    database = await testDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('SELECT setseed(0.25)')
    for (const [name, select] of Object.entries(tables)) {
      await client.query(`CREATE TABLE ${name} AS SELECT *, ${attributes} FROM (${select}) s`)
      const geometry = name === 'projected' ? 'ST_Transform(geom, 3857)' : 'geom'
      const hex = `encode(ST_AsEWKB(${geometry}${name === 'lines' ? ", 'XDR'" : ''}), 'hex')`
      const answer = await client.query({
        text: `SELECT id, name, size, share, ratio, flag, ${hex} FROM ${name} ORDER BY id`,
        rowMode: 'array',
      })
      const values = answer.rows.map((row) => [...row.slice(0, 6), Buffer.from(row[6], 'hex')])
      rows.set(name as Table, { columns, values })
    }
  })

  after(async () => {
    await client?.end()
    await database?.close()
  })

  const ours = (table: Table, tile: Tile): Buffer => {
    const projection = table === 'metres' || table === 'projected' ? 'mercator' : 'lonlat'
    const encoder = createTileEncoder({ tile, columns, projection })
    for (const row of rows.get(table)?.values ?? []) {
      const { bytes, at } = dataRow(row)
      encoder.addRow(bytes, at)
    }
    const { bytes, invalid } = encoder.finish()
    assert.equal(invalid, 0)
    return bytes
  }

  const theirs = async (table: Table, { z, x, y }: Tile): Promise<Buffer> => {
    const { rows } = await client.query(
      `SELECT ST_AsMVT(t, 'geometry', 4096, 'g', 'id') AS mvt FROM (
         SELECT id, name, size, share, ratio, flag,
           ST_AsMVTGeom(ST_Transform(geom, 3857), ST_TileEnvelope($1, $2, $3), 4096, 64, true) AS g
         FROM ${table} ORDER BY id) t WHERE g IS NOT NULL`,
      [z, x, y],
    )
    return rows[0].mvt
  }

  const pick = (table: Table): Tile => {
    const z = Math.floor(chance() * 13)
    const values = rows.get(table)?.values ?? []
    // A tile around a feature, or high zooms would only see empty ones.
    const wkb = values[Math.floor(chance() * values.length)]?.[6] as Buffer
    const [x, y] = somePlace(wkb, table === 'metres' || table === 'projected')
    const size = 2 ** z
    const shift = () => Math.floor(chance() * 3) - 1
    const within = (value: number) => Math.max(0, Math.min(size - 1, value))
    return { z, x: within(Math.floor(x * size) + (z > 8 ? 0 : shift())), y: within(Math.floor(y * size)) }
  }

  test('500 random tiles of six tables hold what ST_AsMVT gives: features, attributes and geometry', async () => {
    let compared = 0
    for (let index = 0; index < 500; index++) {
      const table = Object.keys(tables)[index % 6] as Table
      const tile = pick(table)
      const place = `${table} ${tile.z}/${tile.x}/${tile.y}`
      const [mine, other] = [decode(ours(table, tile)), decode(await theirs(table, tile))]
      for (const id of new Set([...mine.keys(), ...other.keys()])) {
        compareFeatures(mine.get(id), other.get(id), `${place} feature ${id}`)
        compared++
      }
    }
    assert.ok(compared > 10_000, `only ${compared} features`)
  })

  test('GDAL reads the same features as @mapbox/vector-tile', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'graticule-mvt-'))
    try {
      for (const [index, table] of (Object.keys(tables) as Table[]).entries()) {
        const tile = table === 'projected' ? { z: 4, x: 8, y: 5 } : { z: 1 + (index % 2), x: 1, y: 1 }
        const bytes = ours(table, tile)
        const file = join(directory, `${table}.mvt`)
        await writeFile(file, bytes)
        const features = decode(bytes)
        const args = ['-f', 'GeoJSON', '-lco', 'RFC7946=NO', '-oo', 'CLIP=NO', '/vsistdout/', file]
        const { stdout, stderr } = await promisify(execFile)('ogr2ogr', args, { maxBuffer: 1 << 28 })
        assert.equal(stderr, '')
        const read = JSON.parse(stdout).features as { properties: Record<string, unknown> }[]
        assert.equal(read.length, features.size)
        for (const { properties } of read) assertSameProperties(features.get(Number(properties.mvt_id)), properties)
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})

function assertSameProperties(feature: VectorTileFeature | undefined, read: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(feature?.properties ?? { missing: true })) {
    const other = read[name]
    if (typeof value === 'number') assert.ok(Math.abs(Number(other) - value) <= Math.abs(value) * 1e-6, name)
    else assert.equal(typeof value === 'boolean' ? Boolean(other) : other, value, name)
  }
}

const wire: ((value: never) => Buffer)[] = [
  (value: number) => written(4, (bytes) => bytes.writeInt32BE(value)),
  (value: string) => Buffer.from(value),
  (value: number) => written(4, (bytes) => bytes.writeInt32BE(value)),
  (value: number) => written(8, (bytes) => bytes.writeDoubleBE(value)),
  (value: number) => written(4, (bytes) => bytes.writeFloatBE(value)),
  (value: boolean) => Buffer.of(value ? 1 : 0),
  (value: Buffer) => value,
]

function written(size: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size)
  write(bytes)
  return bytes
}

/** A row as it is on the wire. */
function dataRow(row: unknown[]): { bytes: Buffer; at: Int32Array } {
  const cells = row.map((value, index) => (value === null ? null : (wire[index]?.(value as never) ?? null)))
  const at = new Int32Array(cells.length * 2)
  let end = 0
  cells.forEach((cell, index) => {
    at[2 * index] = cell ? end : -1
    end += cell?.length ?? 0
    at[2 * index + 1] = end
  })
  return { bytes: Buffer.concat(cells.filter((cell) => cell !== null)), at }
}

/** The first coordinate of a geometry, as fractions of the world. */
function somePlace(wkb: Buffer, isMetres: boolean): [number, number] {
  const isBig = wkb[0] === 0
  const type = (isBig ? wkb.readUInt32BE(1) : wkb.readUInt32LE(1)) & 0xff
  const counts = { 1: 0, 2: 4, 3: 8, 4: 9, 5: 13, 6: 17 }[type as 1] ?? 0
  const read = (at: number) => (isBig ? wkb.readDoubleBE(at) : wkb.readDoubleLE(at))
  const [x, y] = [read(9 + counts), read(17 + counts)]
  const half = 20037508.342789244
  if (isMetres) return [(x / half + 1) / 2, (1 - y / half) / 2]
  return [x / 360 + 0.5, 0.5 - Math.asinh(Math.tan((y * Math.PI) / 180)) / (2 * Math.PI)]
}

function decode(bytes: Buffer): Map<number, VectorTileFeature> {
  const layer = new VectorTile(new PbfReader(bytes)).layers.geometry
  const features = Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index) as VectorTileFeature)
  return new Map(features.map((feature) => [feature.id as number, feature]))
}

function compareFeatures(
  mine: VectorTileFeature | undefined,
  other: VectorTileFeature | undefined,
  place: string,
): void {
  const one = (mine ?? other) as VectorTileFeature
  if (!mine || !other) {
    assert.ok(isSpeck(one), `${place} is only in ${mine ? 'ours' : 'PostGIS'}: ${JSON.stringify(pathsOf(one))}`)
    return
  }
  assert.equal(mine.type, other.type, place)
  assert.deepEqual(mine.properties, other.properties, place)
  const [a, b] = [pathsOf(mine), pathsOf(other)]
  assertNear(a, b, one.type, `${place}: ours`)
  assertNear(b, a, one.type, `${place}: PostGIS's`)
  if (one.type !== 3) return
  const slack = tolerance * a.reduce((sum, path) => sum + lengthOf(path), 0) + speck
  assert.ok(Math.abs(areaOf(a) - areaOf(b)) <= slack, `${place}: area ${areaOf(a)} and ${areaOf(b)}`)
}

const pathsOf = (feature: VectorTileFeature): Path[] => feature.loadGeometry()

const isSpeck = (feature: VectorTileFeature): boolean =>
  pathsOf(feature).every((path) => isSpeckPath(path, feature.type))

/** Points may be on the very edge of the buffer, where the last bit of a double decides. */
function isSpeckPath(path: Path, type: number): boolean {
  if (type === 1) return path.every(isAtEdge)
  const [width, height] = [spread(path, 'x'), spread(path, 'y')]
  if (type === 2) return Math.max(width, height) <= speck || path.every(isAtEdge)
  return Math.abs(areaOf([path])) <= speck * Math.max(width, height)
}

const spread = (path: Path, axis: 'x' | 'y'): number =>
  Math.max(...path.map((point) => point[axis])) - Math.min(...path.map((point) => point[axis]))

const isAtEdge = ({ x, y }: { x: number; y: number }): boolean =>
  Math.min(Math.abs(x + 64), Math.abs(x - 4160), Math.abs(y + 64), Math.abs(y - 4160)) <= 1

function assertNear(some: Path[], others: Path[], type: number, place: string): void {
  for (const path of some) {
    if (type > 1 && isSpeckPath(path, type)) continue
    for (const point of path) {
      // Where a ring leaves the tile it may run along the edge of the buffer, which nobody sees.
      if (type === 3 && isAtEdge(point)) continue
      const distance = Math.min(...others.map((other) => distanceTo(point, other, type)))
      assert.ok(distance <= (type === 1 ? 1.5 : tolerance), `${place} ${point.x} ${point.y} is ${distance} away`)
    }
  }
}

function distanceTo(point: { x: number; y: number }, path: Path, type: number): number {
  const first = path[0] as Path[number]
  if (type === 1) return Math.min(...path.map((other) => Math.hypot(other.x - point.x, other.y - point.y)))
  let least = Math.hypot(first.x - point.x, first.y - point.y)
  for (let index = 1; index < path.length; index++) {
    least = Math.min(least, segmentDistance(point, path[index - 1] as Path[number], path[index] as Path[number]))
  }
  return least
}

function segmentDistance(p: Path[number], a: Path[number], b: Path[number]): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  const square = dx * dx + dy * dy
  const along = square === 0 ? 0 : Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / square))
  return Math.hypot(a.x + along * dx - p.x, a.y + along * dy - p.y)
}

function areaOf(paths: Path[]): number {
  let area = 0
  for (const path of paths) {
    for (let index = 1; index < path.length; index++) {
      const [a, b] = [path[index - 1] as Path[number], path[index] as Path[number]]
      area += (a.x * b.y - b.x * a.y) / 2
    }
  }
  return area
}

const lengthOf = (path: Path): number =>
  path.slice(1).reduce((sum, point, index) => {
    const last = path[index] as Path[number]
    return sum + Math.hypot(point.x - last.x, point.y - last.y)
  }, 0)
