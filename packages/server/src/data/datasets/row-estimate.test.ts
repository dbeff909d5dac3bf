import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { raw } from '../../kernel/db/sql.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
  const { schema } = uploads
  await uploads.app.db.script(`
    CREATE TABLE ${schema}.analysed AS SELECT n FROM generate_series(1, 1234) n;
    CREATE TABLE ${schema}.fresh AS SELECT 1 AS n;
    CREATE VIEW ${schema}.seen AS SELECT n FROM ${schema}.analysed;
    CREATE TABLE ${schema}.parted (n int) PARTITION BY RANGE (n);
    CREATE TABLE ${schema}.low PARTITION OF ${schema}.parted FOR VALUES FROM (0) TO (10);
    CREATE TABLE ${schema}.high PARTITION OF ${schema}.parted FOR VALUES FROM (10) TO (100);
    INSERT INTO ${schema}.parted SELECT n FROM generate_series(0, 49) n;
    CREATE TABLE ${schema}.guarded AS SELECT n FROM generate_series(1, 7) n;
    ALTER TABLE ${schema}.guarded ENABLE ROW LEVEL SECURITY;
    CREATE TABLE ${schema}.hollow (n int);
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  for (const table of ['analysed', 'parted', 'guarded', 'hollow'])
    await uploads.app.db.script(`ANALYZE ${schema}.${table}`)
})
after(() => uploads.close())

const path = '/api/v1/datasets'
const headers = { 'content-type': 'application/json' }

async function estimateOf(body: object): Promise<number | null> {
  const reply = await uploads.call('POST', path, { body: JSON.stringify({ name: 'a', ...body }), headers })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return reply.body.rowEstimate
}

test('of a table it is what the statistics of its database say, and null where they say nothing', async () => {
  const expected = { analysed: 1234, parted: 50, hollow: 0, fresh: null, seen: null, guarded: null }
  for (const [source, rows] of Object.entries(expected))
    assert.equal(await estimateOf({ type: 'table', source }), rows, source)
  assert.equal(await estimateOf({ type: 'sql', source: 'SELECT 1 AS one' }), null)
})

test('of an upload it is the number of rows, also when the data are replaced and the record changed', async () => {
  const file = (count: number) => ({ name: 'rows.csv', bytes: `a,b\n${'1,2\n'.repeat(count)}` })
  const { datasetId } = await uploads.upload(file(7))
  const get = async () => (await uploads.call('GET', `${path}/${datasetId}?fields=rowEstimate`)).body
  assert.deepEqual(await get(), { rowEstimate: 7 })
  await uploads.upload(file(11), { datasetId })
  assert.deepEqual(await get(), { rowEstimate: 11 })
  const body = JSON.stringify({ name: 'Renamed', rowEstimate: 99 })
  const patch = { body, headers: { 'content-type': 'application/merge-patch+json' } }
  assert.equal((await uploads.call('PATCH', `${path}/${datasetId}`, patch)).body.rowEstimate, 11)
})

test('it is kept with the record, so lists can be filtered and sorted by it', async () => {
  await estimateOf({ type: 'table', source: 'analysed' })
  const query = 'fields=rowEstimate&sort=-rowEstimate&filter[rowEstimate][$gte]=50'
  const { body } = await uploads.call('GET', `${path}?${query}`)
  const estimates = body.map(({ rowEstimate }: { rowEstimate: number }) => rowEstimate)
  assert.equal(estimates[0], 1234)
  assert.deepEqual(
    estimates,
    [...estimates].sort((one, other) => other - one),
  )
  assert.ok(estimates.every((rows: number) => rows >= 50))
})

test('the migration gives datasets from before theirs, as far as the statistics say', async () => {
  for (const source of ['analysed', 'fresh', 'guarded']) await estimateOf({ type: 'table', source })
  const file = await readFile(new URL('../../kernel/db/migrations/0018-row-estimates.sql', import.meta.url), 'utf8')
  const fill = file.slice(file.indexOf('UPDATE svc.datasets'))
  await uploads.app.db.script(`UPDATE svc.datasets SET row_estimate = NULL; ${fill}`)
  const found = await uploads.app.db.query(
    raw(`SELECT DISTINCT source, row_estimate AS rows FROM svc.datasets
         WHERE source IN ('analysed', 'fresh', 'guarded') ORDER BY source`),
  )
  assert.deepEqual(found, [
    { source: 'analysed', rows: 1234 },
    { source: 'fresh', rows: null },
    { source: 'guarded', rows: null },
  ])
})

test('what the planner expects now can be asked without reading a row', async () => {
  const reply = await uploads.call('POST', path, {
    body: JSON.stringify({ name: 'a', type: 'table', source: 'analysed' }),
    headers,
  })
  const { status, headers: answered } = await uploads.call(
    'GET',
    `${path}/${reply.body.id}/query?limit=0&count=estimated`,
  )
  assert.equal(status, 200)
  assert.equal(answered.get('x-total-count'), '1234')
})
