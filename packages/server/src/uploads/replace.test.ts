import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import { forwardDatabase } from '../testing/forwarded-database.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'

let uploads: UploadApp
let theirServer: Awaited<ReturnType<typeof forwardDatabase>> | undefined
before(async () => {
  uploads = await uploadApp()
  if (uploads.app.url) theirServer = await forwardDatabase(uploads.app.url)
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
  await uploads.call('PATCH', path, {
    body: JSON.stringify({ name: 'Kept', description: 'too', metadata: { tags: ['a'] } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  })
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
  for (let tries = 0; (await tile()).etag === before.etag; tries++) {
    assert.ok(tries < 30)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
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

test('only tables get new data', async () => {
  const made = await uploads.call('POST', '/api/v1/datasets', {
    body: JSON.stringify({ type: 'sql', name: 'One', source: 'SELECT 1 AS one' }),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal((await uploads.send(grid(1, 1), { datasetId: made.body.id })).status, 400)
})

const inTheirs = { skip: !process.env.TEST_DATABASE_URL }

async function addDatabase(rest: object): Promise<string> {
  const { hostname, port, username, pathname } = new URL(theirServer?.url ?? '')
  const place = { host: hostname, port: Number(port), user: username, password: 'x', db: pathname.slice(1) }
  const made = await uploads.call('POST', '/api/v1/databases', {
    body: JSON.stringify({ type: 'postgres', name: 'Mine', ...place, ...rest }),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

test('a dataset in a database of the application’s own gets its new data there', inTheirs, async () => {
  const databaseId = await addDatabase({})
  await uploads.app.db.script('CREATE TABLE public.theirs (id int PRIMARY KEY, geom geometry(Point, 4326))')
  const dataset = await uploads.call('POST', '/api/v1/datasets', {
    body: JSON.stringify({ type: 'table', name: 'Theirs', source: 'theirs', databaseId }),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(dataset.status, 201, JSON.stringify(dataset.body))
  const done = await uploads.upload(grid(30, 7), { datasetId: dataset.body.id })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const [row] = await uploads.app.db.query<{ count: number }>(sql`SELECT count(*)::int4 AS count FROM public.theirs`)
  assert.equal(row?.count, 30)
  assert.equal((await uploads.rows(dataset.body.id)).length, 30)
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
