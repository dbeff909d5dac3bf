import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../../../testing/database.ts'
import { createRandom, pick, type Random } from '../../../../../testing/uploads/random.ts'
import { sql } from '../../../../kernel/db/sql.ts'
import { createGeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { type LooseGeometry, writeGeometry } from '../../../../query/geometry/encoding/geojson-ewkb.ts'
import type { EncodedColumn } from '../reader.ts'
import { beginRow, createRowWriter, takeChunk, writeBytes, writeInt8, writeNull, writeText } from './copy-binary.ts'
import { createValidityCheck } from './polygon-validity.ts'

// One database is enough: both ask GEOS whether an area is valid, and PostGIS is what tenants have in either.

let database: TestDatabase
before(async () => {
  database = await testDatabase()
  await database.db.query(sql`CREATE TABLE areas (fid bigint, label text, geom geometry)`)
})
after(() => database.close())

type Position = number[]
type Ring = Position[]

const columns: EncodedColumn[] = [
  { kind: 'fid' },
  { kind: 'field', field: 0, type: 'text' },
  { kind: 'geometry', srid: 4326, hasZ: false, isMulti: false },
]

/** The rows with these geometries, as a reader writes them; their keys count from 1. */
function rowsOf(geometries: readonly (LooseGeometry | null)[], column = { srid: 4326, hasZ: false, isMulti: false }) {
  const rows = createRowWriter()
  const shape = createGeometryWriter(column)
  for (const [index, geometry] of geometries.entries()) {
    beginRow(rows, columns.length)
    writeInt8(rows, index + 1)
    if (index % 3 === 0) writeNull(rows)
    else writeText(rows, `Nº ${index}`)
    if (geometry && writeGeometry(shape, geometry)) writeBytes(rows, shape.bytes.subarray(0, shape.length))
    else writeNull(rows)
  }
  return Buffer.from(takeChunk(rows, true) ?? [])
}

function doubtfulOf(rows: Buffer): readonly number[] | undefined {
  const check = createValidityCheck(columns)
  check.look(rows)
  return check.doubtful()
}

const polygon = (...rings: Ring[]): LooseGeometry => ({ type: 'Polygon', coordinates: rings })
const closed = (ring: Ring): Ring => [...ring, ring[0] ?? []]

/** Corners at growing angles around a middle, so often around. */
function star(random: Random, rounds = 1): Ring {
  const count = 3 + Math.floor(random() * 40)
  const [x, y] = [pick(random, [0, 7.5, 1e7, -179]), pick(random, [0, 50, 1e7])]
  const size = pick(random, [1e-7, 0.01, 1, 1e5])
  const way = pick(random, [1, -1])
  return Array.from({ length: count }, (_, index) => {
    const angle = (way * 2 * Math.PI * rounds * (index + 0.5 * random())) / count
    const radius = size * (0.2 + random())
    return [x + Math.cos(angle) * radius, y + Math.sin(angle) * radius]
  })
}

/** Few places, so that corners are met again and lie in one line. */
const scribble = (random: Random): Ring =>
  Array.from({ length: 3 + Math.floor(random() * 6) }, () => [Math.floor(random() * 4), Math.floor(random() * 4)])

function spoiled(random: Random, ring: Ring): Ring {
  const [one, other] = [Math.floor(random() * ring.length), Math.floor(random() * ring.length)]
  const corner = ring[one] ?? []
  return pick(random, [
    () => ring.with(one, ring[other] ?? []).with(other, corner),
    () => ring.toSpliced(one, 0, corner),
    () => ring.toSpliced(other, 0, corner),
    () => ring.map(([x = 0, y = 0]) => [x, y * 1e-12]),
    () => [...ring, ...ring],
  ])()
}

function randomRing(random: Random): Ring {
  return pick(random, [
    () => star(random),
    () => star(random, 2),
    () => spoiled(random, star(random)),
    () => spoiled(random, spoiled(random, star(random))),
    () => scribble(random),
  ])()
}

test('no area is taken for valid that PostGIS finds is not', async () => {
  for (const seed of [1, 2, 3]) {
    const random = createRandom(seed)
    const geometries = Array.from({ length: 3_000 }, () => polygon(closed(randomRing(random))))
    const rows = rowsOf(geometries)
    const doubtful = new Set(doubtfulOf(rows))
    await database.db.query(sql`TRUNCATE areas`)
    await database.db.copyInBinary(
      sql`COPY areas FROM STDIN (FORMAT binary)`,
      (async function* () {
        yield { bytes: rows, isEnd: true }
      })(),
    )
    const invalid = await database.db.query<{ fid: number }>(
      sql`SELECT fid::int4 FROM areas WHERE ST_IsValidReason(geom) <> 'Valid Geometry'`,
    )
    assert.ok(invalid.length > 500, `${invalid.length} are not valid`)
    for (const { fid } of invalid) assert.ok(doubtful.has(fid), JSON.stringify(geometries[fid - 1]))
    assert.ok(geometries.length - doubtful.size > 500, `${geometries.length - doubtful.size} are sure`)
  }
})

const square: Ring = closed([
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
])

test('plain areas, points and rows without a geometry need no closer look; all else does', () => {
  const sure: (LooseGeometry | null)[] = [
    polygon(square),
    polygon([...square].reverse()),
    // A corner that is given twice, and one that lies in the line of its neighbours.
    polygon(square.toSpliced(1, 0, [0, 0], [0.5, 0])),
    { type: 'MultiPolygon', coordinates: [[square]] },
    { type: 'Polygon', coordinates: [] },
    { type: 'Point', coordinates: [1, 2] },
    null,
  ]
  const others: LooseGeometry[] = [
    polygon([...square, ...square]),
    polygon(
      square,
      [...square].map(([x = 0, y = 0]) => [x / 2 + 0.25, y / 2 + 0.25]),
    ),
    { type: 'MultiPolygon', coordinates: [[square], [square]] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [0, 0],
      ],
    },
    { type: 'GeometryCollection', geometries: [polygon(square)] },
  ]
  const keys = others.map((_, index) => sure.length + index + 1)
  for (const column of [
    { srid: 4326, hasZ: false, isMulti: false },
    { srid: 0, hasZ: true, isMulti: true },
  ]) {
    assert.deepEqual(doubtfulOf(rowsOf([...sure, ...others], column)), keys)
  }
})

test('so many that they cannot be named are any', () => {
  const rows = rowsOf(Array.from({ length: 1_000 }, () => polygon([...square, ...square])))
  const check = createValidityCheck(columns)
  for (let time = 0; time < 50; time++) check.look(rows)
  assert.equal(check.doubtful()?.length, 50_000)
  check.look(rows)
  assert.equal(check.doubtful(), undefined)
})
