import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { featuresOf } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'
import { sql } from '../../../kernel/db/sql.ts'

let app: TestApp
let tenant: Tenant
let schema: string
before(async () => {
  app = await testApp({ OVERVIEW_MIN_ROWS: '5000', TILE_MAX_BYTES: '5000000', TILE_MAX_FEATURES: '2000' })
  tenant = await app.tenant('overviews beyond')
  schema = `app_${tenant.id.replaceAll('-', '')}`
})
after(() => app.close())

/** In thousandths that are odd, so that no place is on an edge of a tile. */
const odd = (most: number) =>
  fc.noBias(fc.integer({ min: -most * 500, max: most * 500 - 1 })).map((n) => (2 * n + 1) / 1000)

const [places = []] = fc.sample(fc.array(fc.tuple(odd(520), odd(80)), { minLength: 300, maxLength: 300 }), {
  numRuns: 1,
  seed: Number(process.env.TEST_SEED ?? 1),
})

const withinWorld = (longitude: number): number => longitude - 360 * Math.floor((longitude + 180) / 360)

/** 12 000 points at these places: more than are drawn one by one. */
async function createPoints(name: string, turn: (longitude: number) => number): Promise<string> {
  await app.db.script(`
    CREATE TABLE ${schema}.${name} (id int4 PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO ${schema}.${name} SELECT n * 300 + place, ST_Point(x, y, 4326)
      FROM (VALUES ${places.map(([x, y], place) => `(${place}, ${turn(x).toFixed(3)}, ${y})`).join(', ')}) AS places (place, x, y),
        generate_series(0, 39) AS n;
    CREATE INDEX ON ${schema}.${name} USING gist (geom);
    ANALYZE ${schema}.${name}`)
  const body = { type: 'table', name, source: name }
  const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function tile(id: string, name: string): Promise<unknown[]> {
  const reply = await app.http.inject({ url: `/tiles/${id}/${name}.mvt`, headers: { 'x-api-key': tenant.developer } })
  assert.ok([200, 204].includes(reply.statusCode), reply.body)
  const features = reply.statusCode === 204 ? [] : featuresOf(reply.rawPayload)
  return features.map((feature) => JSON.stringify([feature.loadGeometry(), feature.properties])).toSorted()
}

/** Asks for a tile until the overview is built. */
const built = (id: string): Promise<unknown> =>
  until(async () => {
    await tile(id, '0/0/0')
    const [row] = await app.db.query<{ state: string; error: string | null }>(
      sql`SELECT state, error FROM svc.overviews WHERE dataset_id = ${id}::uuid`,
    )
    assert.notEqual(row?.state, 'failed', row?.error ?? '')
    return row?.state === 'built'
  })

const upTo = (end: number): number[] => Array.from({ length: end }, (_, n) => n)
const names = upTo(4).flatMap((z) => upTo(2 ** z).flatMap((x) => upTo(2 ** z).map((y) => `${z}/${x}/${y}`)))

test('overviews of rows beyond ±180 draw them where they are on the earth', async () => {
  const beyond = await createPoints('beyond', (longitude) => longitude)
  const within = await createPoints('within', withinWorld)
  for (const id of [beyond, within]) await built(id)
  const differing = async (): Promise<string[]> => {
    const found: string[] = []
    for (const name of names) {
      if (!isDeepStrictEqual(await tile(beyond, name), await tile(within, name))) found.push(name)
    }
    return found
  }
  // What was known of the sources before is believed for a moment, of each of the two by itself.
  await until(async () => (await differing()).length === 0).catch(() => undefined)
  assert.deepEqual(await differing(), [])
  assert.ok((await tile(beyond, '0/0/0')).length <= 2000)
})
