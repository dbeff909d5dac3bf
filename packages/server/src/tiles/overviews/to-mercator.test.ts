import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { migrate } from '../../db/migrate.ts'
import { sql } from '../../db/sql.ts'
import { type TestDatabase, testDatabase } from '../../testing/database.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
  await migrate(database.db)
})
after(() => database.close())

type Place = [longitude: number, latitude: number]
type Case = { name: string; shape: string; inside: Place[]; outside: Place[] }

const cases: Case[] = [
  {
    name: 'a bow-tie at the south pole',
    shape: 'POLYGON((0 -90, 20 -60, 20 -90, 0 -60, 0 -90))',
    inside: [
      [2, -75],
      [18, -75],
    ],
    outside: [
      [10, -62],
      [10, 0],
      [-90, 40],
      [90, -70],
    ],
  },
  {
    name: 'a polar cap that crosses itself',
    shape: 'POLYGON((-180 -90, 180 -90, 180 -60, 10 -50, 20 -70, -20 -70, -10 -50, -180 -60, -180 -90))',
    inside: [
      [0, -80],
      [-170, -65],
      [100, -80],
    ],
    outside: [
      [0, -60],
      [0, 0],
      [100, 40],
    ],
  },
  {
    name: 'a bow-tie across the antimeridian',
    shape: 'POLYGON((165 0, 190 20, 190 0, 165 20, 165 0))',
    inside: [
      [168, 10],
      [-172, 10],
    ],
    outside: [
      [178, 1],
      [-178, 19],
      [0, 10],
    ],
  },
  {
    name: 'the same part twice beyond -180',
    shape: 'MULTIPOLYGON(((-200 0, -190 0, -190 10, -200 10, -200 0)), ((-200 0, -190 0, -190 10, -200 10, -200 0)))',
    inside: [[165, 5]],
    outside: [
      [175, 5],
      [-175, 5],
    ],
  },
]

describe('in an overview', () => {
  for (const { name, shape, inside, outside } of cases) {
    test(`${name} is where it was`, async () => {
      const places = [...inside, ...outside]
      const rows = await database.db.query<{ covered: boolean }>(sql`
        SELECT ST_Covers(ST_MakeValid(svc.simplified(svc.to_mercator(ST_GeomFromText(${shape}, 4326)), 1000)),
          ST_Transform(ST_SetSRID(ST_Point(x, y), 4326), 3857)) AS covered
        FROM unnest(${places.map(([x]) => x)}::float8[], ${places.map(([, y]) => y)}::float8[])
          WITH ORDINALITY AS p(x, y, place) ORDER BY place`)
      assert.deepEqual(
        rows.map(({ covered }) => covered),
        places.map((_, index) => index < inside.length),
      )
    })
  }
})
