import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { cursorOf } from '../../../testing/requests/page-walk.ts'

// The embedded database is slower, and ends a query after 20 s on a busy machine.
const rowCount = process.env.TEST_DATABASE_URL ? 40_000 : 2_000

/** All are measured several times for each place, which takes a millisecond and more for an area or a line. */
const part = process.env.TEST_DATABASE_URL ? 12 : 4
const mixedCount = 6 * part

let app: TestApp
let own: Tenant
const ids: Record<string, string> = {}

before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  const schema = `app_${own.id.replaceAll('-', '')}`
  const spread = (n: string) =>
    `ST_Point(22 + (${n} * 7919 % 100003) * 4e-5, 60 + (${n} * 104729 % 100019) * 3e-5, 4326)`
  // On both sides of the antimeridian.
  const besideMeridian = (n: string) =>
    `ST_Point((${n} * 7919 % 100003) * 2e-4 - CASE WHEN (${n} * 7919 % 100003) * 2e-4 < 10 THEN 180 ELSE -160 END, 55 + (${n} * 104729 % 100019) * 3e-4, 4326)`
  await app.db.script(`
    CREATE TABLE ${schema}.points AS SELECT n AS id, ${spread('n')} AS geom FROM generate_series(1::int8, ${rowCount}) n;
    CREATE TABLE ${schema}.areas AS SELECT id, ST_Buffer(geom, 0.001, 2) AS geom FROM ${schema}.points;
    CREATE TABLE ${schema}.strait AS SELECT n AS id, ST_Buffer(${besideMeridian('n')}, 0.001, 2) AS geom
      FROM generate_series(1::int8, ${rowCount}) n;
    CREATE TABLE ${schema}.mixed AS SELECT n AS id, CASE n % 6
      WHEN 0 THEN NULL
      WHEN 1 THEN ST_Point((n * 7919 % 360 - 180)::float8, (n * 104729 % 170 - 85)::float8, 4326)
      WHEN 2 THEN ${spread('n')}
      WHEN 3 THEN ST_Buffer(${spread('n')}, 0.3, 2)
      WHEN 4 THEN ST_MakeLine(${spread('n')}, ${spread('(n + 1)')})
      ELSE ${besideMeridian('n')} END AS geom FROM generate_series(1::int8, ${mixedCount}) n;
    CREATE VIEW ${schema}.projected AS SELECT id, ST_Transform(geom, 3067) AS geom FROM ${schema}.mixed WHERE id % 6 IN (2, 3, 4);
    CREATE TABLE ${schema}.globe AS SELECT id, geom::geography AS geom FROM ${schema}.mixed`)
  for (const name of ['points', 'areas', 'strait', 'mixed', 'globe']) {
    await app.db.script(`ALTER TABLE ${schema}.${name} ADD PRIMARY KEY (id);
      CREATE INDEX ON ${schema}.${name} USING gist (geom); ANALYZE ${schema}.${name}`)
  }
  await app.db.script(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
  for (const source of ['points', 'areas', 'strait', 'mixed', 'projected', 'globe']) {
    const body = { type: 'table', name: source, source }
    const { status, text, body: made } = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
    assert.equal(status, 201, text)
    ids[source] = made.id
  }
})
after(async () => {
  await app.call('DELETE', `/api/v1/applications/${own.id}`)
  await app.close()
})

const ring = (...coordinates: number[][]) => ({ type: 'Polygon', coordinates: [[...coordinates, coordinates[0]]] })
const places: Record<string, object> = {
  point: { type: 'Point', coordinates: [23.1, 61.1] },
  'points that are far apart': {
    type: 'MultiPoint',
    coordinates: [
      [23.1, 61.1],
      [-150, 10],
    ],
  },
  'diagonal line': {
    type: 'LineString',
    coordinates: [
      [22, 60],
      [26, 63],
    ],
  },
  'line that ends at the antimeridian': {
    type: 'LineString',
    coordinates: [
      [179, 50],
      [180, 60],
    ],
  },
  'point beside the antimeridian': { type: 'Point', coordinates: [-179.99, 70] },
  'point near the pole': { type: 'Point', coordinates: [-100, 89] },
  'area beyond the pole': ring([-160, 75], [-150, 75], [-150, 80], [-160, 80]),
  'small area': ring([23.1, 61.1], [23.101, 61.1], [23.101, 61.101]),
  'area that holds a quarter': ring([23, 60.5], [25, 60.5], [25, 62], [23, 62]),
  'area that holds all': ring([20, 58], [30, 58], [30, 65], [20, 65]),
  'area that crosses itself': ring([23, 61], [23.1, 61.1], [23.1, 61], [23, 61.1]),
}

type Found = { readonly id: number; readonly distance: number | null }

async function post(source: string, body: object): Promise<Reply> {
  const reply = await app.call('POST', `/api/v1/datasets/${ids[source]}/query?timeout=30000`, {
    key: own.developer,
    body: { attributes: ['id'], ...body },
  })
  assert.equal(reply.status, 200, reply.text)
  return reply
}

const ask = async (source: string, body: object): Promise<Found[]> => (await post(source, body)).body

/** So many pages, by their cursors. */
async function walk(source: string, body: object, most: number): Promise<Found[][]> {
  const pages: Found[][] = []
  for (let cursor: string | null = ''; cursor !== null && pages.length < most; ) {
    const reply: Reply = await post(source, { ...body, cursor })
    pages.push(reply.body)
    cursor = cursorOf(reply)
  }
  return pages
}

/** Tables with very many rows that are searched for a place: those in which a box in degrees could hold all of them are the hard ones. */
const isBesideMeridian = (name: string): boolean => /meridian|pole/.test(name)
const pointsNear = (name: string): string[] => (isBesideMeridian(name) ? [] : ['points'])
const areasNear = (name: string): string => (isBesideMeridian(name) ? 'strait' : 'areas')

for (const [name, geometry] of Object.entries(places)) {
  const nearest = { nearest: { geometry }, order: ['id'] }

  test(`the rows nearest to: ${name}, are found among very many within 30 s, and page by page`, async () => {
    // All measured take a minute and more for lines and areas; these take a second, and a busy machine ten times that.
    for (const source of pointsNear(name))
      assert.equal((await ask(source, { ...nearest, limit: 10, offset: 5 })).length, 10)
    const source = areasNear(name)
    const first = await ask(source, { ...nearest, limit: 20 })
    assert.equal(first.length, 20)
    assert.deepEqual((await walk(source, { ...nearest, limit: 10 }, 2)).flat(), first)
  })

  test(`the first rows nearest to: ${name}, and their pages, are those that come first when all are measured`, async () => {
    for (const source of ['mixed', 'projected', 'globe']) {
      const all = await ask(source, { ...nearest, limit: 20_000 })
      for (const [limit, offset] of [
        [1, 0],
        [part, 0],
        [2 * part, 3 * part],
      ] as const) {
        const some = await ask(source, { ...nearest, limit, offset })
        assert.deepEqual(some, all.slice(offset, offset + limit), `${limit} from ${offset} of ${source}`)
      }
      // A view has no key to page by.
      if (source === 'projected') continue
      const pages = await walk(source, { ...nearest, limit: 2 * part }, 10)
      assert.deepEqual(pages.flat(), all, source)
    }
  })
}
