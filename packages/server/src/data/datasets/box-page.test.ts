import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'

// Only a PostgreSQL server counts how often an index was used by other sessions.
const skip = process.env.TEST_DATABASE_URL === undefined ? 'needs a PostgreSQL server' : false
const rowCount = 20_000

let app: TestApp
let own: Tenant
let schema: string
let url: string
before(async () => {
  if (skip) return
  app = await testApp()
  own = await app.tenant('own')
  schema = `app_${own.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.places AS
      SELECT n AS id, ST_Point(n * 7919 % 360 - 180, n * 104729 % 170 - 85, 4326)::geometry(Point, 4326) AS geom
      FROM generate_series(1, ${rowCount}) n;
    ALTER TABLE ${schema}.places ADD PRIMARY KEY (id);
    CREATE INDEX places_geom ON ${schema}.places USING gist (geom);
    GRANT SELECT ON ${schema}.places TO ${schema};
    ANALYZE ${schema}.places`)
  const body = { type: 'table', name: 'places', source: 'places' }
  const made = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  url = `/api/v1/datasets/${made.body.id}/query`
})
after(async () => {
  if (skip) return
  // Its role outlives the database that it was made for.
  await app.call('DELETE', `/api/v1/applications/${own.id}`)
  await app.close()
})

const asked = 20

async function askForBoxes(box: (round: number) => string): Promise<void> {
  for (let round = 0; round < asked; round++) {
    const query = `filter[geom][$bbox]=${box(round)}&limit=10`
    const reply = await app.call('GET', `${url}?${query}`, { key: own.developer })
    assert.equal(reply.status, 200, reply.text)
    const ids = reply.body.map(({ id }: { id: number }) => id)
    assert.deepEqual(
      ids,
      ids.toSorted((a: number, b: number) => a - b),
    )
  }
}

/** How often each index was used. Sessions report that a second or so later. */
async function scans(): Promise<Record<string, number>> {
  const rows = await app.db.query<{ name: string; scans: number }>(sql`
    SELECT indexrelname AS name, idx_scan AS scans FROM pg_stat_user_indexes WHERE schemaname = ${schema}`)
  return Object.fromEntries(rows.map(({ name, scans }) => [name, Number(scans)]))
}

async function scansOf(work: () => Promise<void>): Promise<Record<string, number>> {
  const earlier = await scans()
  await work()
  const grown = async () => {
    const now = await scans()
    return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, count - (earlier[name] ?? 0)]))
  }
  await until(async () => Object.values(await grown()).reduce((sum, count) => sum + count, 0) >= asked, 20_000)
  return grown()
}

test('a page of a box that holds much of the table walks the key, however often it is asked for', {
  skip,
}, async () => {
  const used = await scansOf(() => askForBoxes((round) => `-170,-80,${150 + round},80`))
  assert.deepEqual(used, { places_pkey: asked, places_geom: 0 })
})

test('a page of a box that holds little of the table uses the spatial index', { skip }, async () => {
  const used = await scansOf(() => askForBoxes((round) => `${round},0,${round + 1},1`))
  assert.deepEqual(used, { places_pkey: 0, places_geom: asked })
})
