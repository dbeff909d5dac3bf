import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import { until } from '../testing/until.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { demandSameDestination } from './replaced-table.ts'

// An upload with `datasetId` drops a table with the platform's rights: only one of the tenant's own schema may go.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ UPLOADS_PER_APPLICATION: '1' })
  await uploads.app.db.script(`
    CREATE TABLE public.shared_roads (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO public.shared_roads VALUES (1, NULL);
    GRANT SELECT ON public.shared_roads TO PUBLIC`)
})
after(() => uploads.close())

const file = (rows = 1) => ({ name: 'a.csv', bytes: `a,lon,lat\n${'1,2,3\n'.repeat(rows)}` })
const inJson = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

async function dataset(source: string, type = 'table'): Promise<string> {
  const { status, body } = await uploads.call('POST', '/api/v1/datasets', inJson({ type, name: 'It', source }))
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

const patch = (id: string, body: object) =>
  uploads.call('PATCH', `/api/v1/datasets/${id}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/merge-patch+json' },
  })

async function sharedRows(): Promise<number> {
  const [row] = await uploads.app.db.query<{ count: number }>(
    sql`SELECT count(*)::int4 AS count FROM public.shared_roads`,
  )
  return row?.count ?? 0
}

test('an upload onto a dataset whose table lies outside the tenant’s schema is refused, however the table is written', async () => {
  for (const source of ['public.shared_roads', '"public"."shared_roads"', 'public."shared_roads"']) {
    const { status, body } = await uploads.send(file(), { datasetId: await dataset(source) })
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(body.detail, /^body\/datasetId: .*schema/)
  }
  assert.equal(await sharedRows(), 1)
  assert.deepEqual(await uploads.leftovers(), [])
})

test('views, partitions, inherited tables, tables with row security and tables of the service are not replaced', async () => {
  const { schema } = uploads
  const own = await uploads.upload(file())
  await uploads.app.db.script(`
    CREATE TABLE ${schema}.plain (id int); CREATE VIEW ${schema}.seen AS SELECT * FROM ${schema}.plain;
    CREATE MATERIALIZED VIEW ${schema}.kept AS SELECT * FROM ${schema}.plain;
    CREATE TABLE ${schema}.whole (id int) PARTITION BY RANGE (id);
    CREATE TABLE ${schema}.part PARTITION OF ${schema}.whole FOR VALUES FROM (0) TO (9);
    CREATE TABLE ${schema}.parent (id int); CREATE TABLE ${schema}.child () INHERITS (${schema}.parent);
    CREATE TABLE ${schema}.hidden (id int); ALTER TABLE ${schema}.hidden ENABLE ROW LEVEL SECURITY;
    CREATE TABLE ${schema}.svc_ov_${own.datasetId.replaceAll('-', '')}_7 (id int)`)
  const names = ['seen', 'kept', 'whole', 'part', 'parent', 'child', 'hidden']
  for (const name of [...names, `svc_ov_${own.datasetId.replaceAll('-', '')}_7`]) {
    const { status, body } = await uploads.send(file(), { datasetId: await dataset(name) })
    assert.equal(status, 400, `${name}: ${JSON.stringify(body)}`)
  }
  await uploads.app.db.script(`
    DROP VIEW ${schema}.seen; DROP MATERIALIZED VIEW ${schema}.kept; DROP TABLE ${schema}.whole, ${schema}.child,
    ${schema}.parent, ${schema}.plain, ${schema}.hidden, ${schema}.svc_ov_${own.datasetId.replaceAll('-', '')}_7`)
})

test('a dataset that is given another source after the file was sent is not replaced', async () => {
  for (const source of ['public.shared_roads', 'other']) {
    await uploads.app.db.script(`CREATE TABLE IF NOT EXISTS ${uploads.schema}.other (id int)`)
    const { datasetId } = await uploads.upload(file())
    // While this one is worked on, the next one waits.
    const first = await uploads.send(file(40_000))
    const { body } = await uploads.send(file(), { datasetId })
    assert.equal((await patch(datasetId, { source })).status, 200)
    assert.equal((await uploads.ended(first.body.id)).status, 'completed')
    const done = await uploads.ended(body.id)
    assert.equal(done.status, 'failed')
    assert.equal(done.error.code, 'dataset_changed')
  }
  assert.equal(await sharedRows(), 1)
  const [other] = await uploads.app.db.query(sql`SELECT to_regclass(${`${uploads.schema}.other`}) IS NOT NULL AS kept`)
  assert.equal(other?.kept, true)
})

test('a dataset that is given another source just before its table is swapped is not replaced', async (t) => {
  if (!process.env.TEST_DATABASE_URL) return t.skip('the embedded database has one session')
  const { datasetId } = await uploads.upload(file())
  const { body } = await uploads.send(file(30_000), { datasetId })
  // Publishing waits for the record, whose source changes meanwhile.
  let isReached = false
  await uploads.app.db.transaction(async (tx) => {
    await tx.query(sql`UPDATE svc.datasets SET source = 'public.shared_roads' WHERE id = ${datasetId}::uuid`)
    await until(async () => {
      const { body: now } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
      isReached = now.stage === 'publishing'
      return isReached || now.status === 'failed'
    })
  })
  const done = await uploads.ended(body.id)
  assert.ok(isReached, JSON.stringify(done))
  assert.equal(done.error.code, 'dataset_changed', JSON.stringify(done))
  assert.equal(await sharedRows(), 1)
})

test('nothing is published into a database whose record leads elsewhere by now', async () => {
  const { db } = uploads.app
  const [record] = (await uploads.call('GET', '/api/v1/databases')).body
  const check = (destination: unknown[]) =>
    db.transaction((tx) =>
      demandSameDestination(tx, {
        ...{ db, schema: uploads.schema, databaseId: record.id, isOwn: true },
        destination: JSON.stringify(destination),
      }),
    )
  await check(['internal', '', 0, '', ''])
  await assert.rejects(check(['internal', 'elsewhere', 0, '', '']), /record was changed/)
  await assert.rejects(check(['postgres', '', 0, '', '']), /record was changed/)
})

test('a key that may write one dataset cannot replace the table of another by naming it', async () => {
  const other = await uploads.upload(file(3))
  const { body } = await uploads.call('GET', `/api/v1/datasets/${other.datasetId}`)
  const mine = await dataset(body.source)
  const key = await uploads.app.key(uploads.tenant.id, { '*': { '*': '*' }, datasets: { read: '*', write: [mine] } })
  const refused = await uploads.send(file(), { datasetId: mine }, key)
  assert.equal(refused.status, 401, JSON.stringify(refused.body))
  assert.equal((await uploads.rows(other.datasetId)).length, 3)
  assert.equal((await uploads.upload(file(2), { datasetId: mine })).status, 'completed')
})
