import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { ident, raw } from '../../../kernel/db/sql.ts'
import { transformInBatches } from './transform-batches.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(() => database.close())

const point = 'ST_Point(4321000 + i, 3210000 + i)'
const shapes = [
  point,
  `ST_Multi(ST_Buffer(${point}, 100))`,
  `ST_Collect(${point}, ST_MakeLine(${point}, ST_Point(4421000 + i, 3210000)))`,
  `'CIRCULARSTRING(4321000 3210000, 4321001 3210001, 4321002 3210000)'::geometry`,
  `'POINT EMPTY'::geometry`,
  `ST_Multi(${point})`,
  'NULL',
]

test('geometries of all kinds are where each of them alone would be, in their own rows and of their own type', async () => {
  const { db } = database
  const cases = shapes.map((shape, index) => `WHEN ${index} THEN ${shape}`).join(' ')
  // More than two batches, the last of which is not full.
  await db.script(`CREATE TABLE many AS SELECT i AS id, ST_SetSRID(CASE i % ${shapes.length} ${cases} END, 0) AS geom
      FROM generate_series(1, 450) AS i;
    CREATE TABLE each AS SELECT id, ST_Transform(ST_SetSRID(geom, 3035), 4326) AS geom FROM many`)
  const [system] = await db.query<{ text: string }>(raw('SELECT srtext AS text FROM spatial_ref_sys WHERE srid = 3035'))
  await transformInBatches(db, { table: ident('many'), column: ident('geom'), text: system?.text ?? '', target: 4326 })
  const wrong = await db.query(
    raw(`
    SELECT id, ST_AsText(m.geom) AS found, ST_AsText(e.geom) AS expected FROM many m JOIN each e USING (id)
    WHERE ST_SRID(m.geom) <> 0 OR GeometryType(m.geom) IS DISTINCT FROM GeometryType(e.geom)
      OR ST_NPoints(m.geom) IS DISTINCT FROM ST_NPoints(e.geom)
      OR ST_HausdorffDistance(ST_CurveToLine(ST_SetSRID(m.geom, 4326)), ST_CurveToLine(e.geom)) > 1e-9`),
  )
  assert.deepEqual(wrong, [])
  const [row] = await db.query(raw('SELECT count(geom)::int4 AS placed, count(*)::int4 AS total FROM many'))
  assert.deepEqual(row, { placed: 386, total: 450 })
})
