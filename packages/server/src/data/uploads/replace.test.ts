import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { forwardDatabase } from '../../../testing/peers/forwarded-database.ts'
import { until } from '../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { serverKeyOf } from '../databases/drivers.ts'
import { standInOf } from '../databases/stand-in.ts'
import { demandSameLogin } from './load/replaced-table.ts'

let uploads: UploadApp
let theirServer: Awaited<ReturnType<typeof forwardDatabase>> | undefined
before(async () => {
  uploads = await uploadApp({ UPLOADS_PER_APPLICATION: '1' })
  if (uploads.app.url) theirServer = await forwardDatabase(uploads.app.url)
  await uploads.app.db.script(`
    CREATE TABLE public.shared_roads (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO public.shared_roads VALUES (1, NULL);
    GRANT SELECT ON public.shared_roads TO PUBLIC`)
})
after(async () => {
  await uploads.close()
  theirServer?.close()
})

const grid = (count: number, generation: number, more = '') => ({
  name: 'grid.csv',
  bytes: `generation,lon,lat${more && ',more'}\n${Array.from({ length: count }, (_, n) => `${generation},${n % 50},${n % 40}${more}`).join('\n')}\n`,
})

test('new data take the place of the old ones at once, for all who read meanwhile', async () => {
  const { datasetId } = await uploads.upload(grid(500, 0))
  const path = `/api/v1/datasets/${datasetId}`
  await patch(datasetId, { name: 'Kept', description: 'too', metadata: { tags: ['a'] } })
  let isDone = false
  let reads = 0
  const reader = async () => {
    while (!isDone) {
      const rows = await uploads.rows(datasetId, 'attributes=generation')
      assert.ok(Array.isArray(rows), JSON.stringify(rows))
      const generations = new Set(rows.map(({ generation }: { generation: number }) => generation))
      assert.equal(generations.size, 1, 'old or new, never both')
      assert.equal(rows.length, 500)
      reads++
    }
  }
  const readers = Promise.all([reader(), reader(), reader()])
  for (let generation = 1; generation <= 3; generation++) {
    const done = await uploads.upload(grid(500, generation), { datasetId, name: 'Other' })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.equal(done.datasetId, datasetId)
  }
  isDone = true
  await readers
  assert.ok(reads > 5)
  const { body } = await uploads.call('GET', path)
  assert.deepEqual([body.name, body.description, body.metadata], ['Kept', 'too', { tags: ['a'] }])
  assert.equal((await uploads.rows(datasetId))[0].generation, 3)
  assert.deepEqual(await uploads.leftovers(), [])
})

test('tiles and columns are those of the new data', async () => {
  const { datasetId } = await uploads.upload(grid(10, 0))
  const tile = async () => {
    const reply = await fetch(`${uploads.address}/tiles/${datasetId}/0/0/0.mvt`, {
      headers: { 'x-api-key': uploads.tenant.developer },
    })
    return { etag: reply.headers.get('etag'), count: reply.headers.get('x-tile-features') }
  }
  const before = await tile()
  await uploads.upload(grid(20, 1, ',x'), { datasetId })
  await until(async () => (await tile()).etag !== before.etag)
  const { body } = await uploads.call('GET', `/api/v1/datasets/${datasetId}`)
  assert.ok(body.attributes.some(({ name }: { name: string }) => name === 'more'))
})

test('a table that a view is built on is not replaced, and the reason is said', async () => {
  const { datasetId } = await uploads.upload(grid(10, 0))
  const { body } = await uploads.call('GET', `/api/v1/datasets/${datasetId}`)
  await uploads.app.db.script(`CREATE VIEW ${uploads.schema}.on_it AS SELECT * FROM ${uploads.schema}.${body.source}`)
  const done = await uploads.upload(grid(20, 1), { datasetId })
  assert.equal(done.error.code, 'dataset_in_use')
  assert.match(done.error.message, /on_it/)
  assert.equal((await uploads.rows(datasetId)).length, 10)
  assert.deepEqual(await uploads.leftovers(), [])
})

test('an upload replaces the data of table datasets only', async () => {
  const datasetId = await dataset('SELECT 1 AS one', 'sql')
  assert.equal((await uploads.send(grid(1, 1), { datasetId })).status, 400)
})

// An upload with `datasetId` drops a table with the platform’s rights: only one of the tenant’s own schema may go.

const file = (rows = 1) => ({ name: 'a.csv', bytes: `a,lon,lat\n${'1,2,3\n'.repeat(rows)}` })
const inJson = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

async function dataset(source: string, type = 'table', rest: object = {}): Promise<string> {
  const { status, body } = await uploads.call('POST', '/api/v1/datasets', inJson({ type, name: 'It', source, ...rest }))
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

const patch = (id: string, body: object) =>
  uploads.call('PATCH', `/api/v1/datasets/${id}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/merge-patch+json' },
  })

/** The record of an upload that seems to be worked on by another server. */
async function runningUpload(): Promise<string> {
  const id = randomUUID()
  await uploads.app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, status, heard_at)
    VALUES (${id}::uuid, ${uploads.tenant.id}::uuid, 'a', ${id}, ${json({})}, 1, 'processing', now() + interval '1 hour')`)
  return id
}

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
  const overview = await dataset('plain')
  // No dataset can be made of one; those of earlier versions may be there.
  await uploads.app.db.query(sql`
    UPDATE svc.datasets SET source = ${`svc_ov_${own.datasetId.replaceAll('-', '')}_7`} WHERE id = ${overview}::uuid`)
  for (const name of ['seen', 'kept', 'whole', 'part', 'parent', 'child', 'hidden', overview]) {
    const datasetId = name === overview ? overview : await dataset(name)
    const { status, body } = await uploads.send(file(), { datasetId })
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
    // While another one is worked on, this one waits.
    const first = await runningUpload()
    const { body } = await uploads.send(file(), { datasetId })
    assert.equal((await patch(datasetId, { source })).status, 200)
    await uploads.app.db.query(sql`DELETE FROM svc.uploads WHERE id = ${first}::uuid`)
    // What is sent next has the server look for what waits.
    assert.equal((await uploads.upload(file())).status, 'completed')
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
  const check = (login: unknown[]) =>
    db.transaction((tx) =>
      demandSameLogin(tx, {
        db,
        schema: uploads.schema,
        databaseId: record.id,
        isPlatform: true,
        loginKey: JSON.stringify(login),
        serverKey: 'platform',
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

const inTheirs = { skip: !process.env.TEST_DATABASE_URL }

async function addDatabase(rest: object): Promise<string> {
  const { hostname, port, username, pathname } = new URL(theirServer?.url ?? '')
  const place = { host: hostname, port: Number(port), user: username, password: 'x', db: pathname.slice(1) }
  const made = await uploads.call(
    'POST',
    '/api/v1/databases',
    inJson({ type: 'postgres', name: 'Mine', ...place, ...rest }),
  )
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

test('a dataset in a database of the application’s own gets its new data there', inTheirs, async () => {
  const databaseId = await addDatabase({})
  await uploads.app.db.script('CREATE TABLE public.theirs (id int PRIMARY KEY, geom geometry(Point, 4326))')
  const datasetId = await dataset('theirs', 'table', { databaseId })
  const server = new URL(theirServer?.url ?? '')
  const place = { type: 'postgres', host: server.hostname, port: Number(server.port), db: server.pathname.slice(1) }
  const theirs = standInOf(uploads.tenant.id, serverKeyOf(place), { schema: 'public', name: 'theirs' })
  await uploads.app.db.query(sql`SELECT svc.follow_stand_in(${theirs.schema}, ${theirs.name})`)
  const done = await uploads.upload(grid(30, 7), { datasetId })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const told = await uploads.app.db.query<{ operation: string }>(
    sql`SELECT operation FROM svc.change_log WHERE relation = ${`${theirs.schema}.${theirs.name}`}::regclass ORDER BY seq`,
  )
  assert.deepEqual(
    told.map(({ operation }) => operation),
    ['truncate', 'insert'],
    'those who follow it are told',
  )
  const [row] = await uploads.app.db.query<{ count: number }>(sql`SELECT count(*)::int4 AS count FROM public.theirs`)
  assert.equal(row?.count, 30)
  assert.equal((await uploads.rows(datasetId)).length, 30)
})

test('where the default database is the application’s own, tables are made there', inTheirs, async () => {
  const databaseId = await addDatabase({ default: true })
  const done = await uploads.upload({ ...grid(30, 8), name: 'made.csv' })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const { body: dataset } = await uploads.call('GET', `/api/v1/datasets/${done.datasetId}`)
  assert.equal(dataset.databaseId, databaseId)
  const [row] = await uploads.app.db.query<{ count: number }>(sql`SELECT count(*)::int4 AS count FROM public.made`)
  assert.equal(row?.count, 30)
  assert.equal((await uploads.rows(done.datasetId)).length, 30)
  const tile = await fetch(`${uploads.address}/tiles/${done.tileSourceId}/0/0/0.mvt`, {
    headers: { 'x-api-key': uploads.tenant.developer },
  })
  assert.equal(tile.status, 200)
  const broken = await uploads.upload({ name: 'made.csv', bytes: 'a,lon,lat\n1,2,3\n' }, { sourceSrid: '999' })
  assert.equal(broken.error.code, 'srid_unknown')
  const left = await uploads.app.db.query(sql`SELECT relname FROM pg_class WHERE relname LIKE 'svc\\_up\\_%'`)
  assert.deepEqual(left, [])
})
