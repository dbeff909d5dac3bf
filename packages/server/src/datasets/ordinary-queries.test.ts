import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raw } from '../db/sql.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { inParallel } from '../testing/in-parallel.ts'
import { ordinaryQueries } from './ordinary-queries.ts'

let app: TestApp
let tenant: Tenant
let version: number

before(async () => {
  app = await testApp()
  tenant = await app.tenant('ordinary')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.places (id int PRIMARY KEY, name text, kind text, pop int, at timestamptz, tags text[], info jsonb,
      geom geometry(Point, 4326));
    INSERT INTO ${schema}.places VALUES
      (1, 'Bern', 'city', 134, '2026-01-31', '{a,b}', '{"a": 1, "b": {"c": 2}}', ST_Point(7.45, 46.95, 4326)),
      (2, 'Zug', 'city', 30, '2026-02-01', '{b}', '{"a": 2}', ST_Point(8.5, 47.2, 4326)),
      (3, 'Muri', 'village', 13, NULL, NULL, NULL, ST_Point(7.49, 46.93, 4326));
    CREATE TABLE ${schema}.areas (id int PRIMARY KEY, geom geometry(Polygon, 4326));
    INSERT INTO ${schema}.areas VALUES (1, ST_MakeEnvelope(7, 46, 8, 48, 4326));
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
  const [row] = await app.db.query<{ version: string }>(raw(`SELECT current_setting('server_version_num') AS version`))
  version = Math.floor(Number(row?.version) / 10_000)
})
after(() => app.close())

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

/** What is wrong with an answer to a query, its rows or its plan. */
async function faultOf(source: string): Promise<string | undefined> {
  const created = await call('POST', '/api/v1/datasets', { body: { name: 'ordinary', type: 'sql', source } })
  if (created.status !== 201) return created.body.detail
  const url = `/api/v1/datasets/${created.body.id}/query`
  for (const answer of [await call('GET', url), await call('GET', `${url}?explain=true`)]) {
    if (answer.status !== 200) return answer.body.detail
  }
  return undefined
}

/** Several columns without a name are called alike, which a dataset's may not be. */
const inOneColumn = (query: string): string => `SELECT row_to_json(q) AS row FROM (\n${query}\n) q`

test('ordinary queries run', async () => {
  assert.ok(ordinaryQueries.length >= 100)
  const faults: string[] = []
  await inParallel([...ordinaryQueries], async (query) => {
    const { sql: text, since } = typeof query === 'string' ? { sql: query, since: 0 } : query
    if (version < since) return
    const first = await faultOf(text)
    const fault = first?.includes('two columns') ? await faultOf(inOneColumn(text)) : first
    if (fault !== undefined) faults.push(`${text}: ${fault}`)
  })
  assert.deepEqual(faults, [])
})
