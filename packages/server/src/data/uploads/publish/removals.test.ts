import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../../../../testing/until.ts'
import { uploadRecord } from '../../../../testing/uploads/upload-record.ts'
import { type UploadApp, uploadApp } from '../../../../testing/uploads.ts'
import { openPostgres } from '../../../kernel/db/postgres/postgres.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { readPlatformServer } from '../../../kernel/libpq/platform-server.ts'
import { UploadLost } from '../record/upload-fault.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'
import type { LoadingParts } from '../run/loading-parts.ts'
import { runArchive } from '../run/run-archive.ts'
import { tidy } from './janitor.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ OVERVIEW_MIN_ROWS: '100' })
})
after(() => uploads.close())

const tidyUp = (): Promise<void> => {
  const { db, services } = uploads.app
  return tidy({ db, directory: uploads.directory, files: services.files })
}

const long = new Date(Date.now() - 3_600_000)

async function folder(id: string, touchedAt: Date): Promise<void> {
  const path = join(uploads.directory, 'uploads', id)
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'source'), 'x')
  for (const one of [join(path, 'source'), path]) await utimes(one, touchedAt, touchedAt)
}

test('files without a record go when nobody has written to them for long, those of ended uploads at once', async () => {
  const ended = await uploadRecord(uploads.app.db, uploads.tenant.id, 'ended')
  const coming = randomUUID()
  const slow = randomUUID()
  await uploads.app.db.query(sql`
    INSERT INTO svc.arriving_uploads (id, application_id, bytes) VALUES (${slow}::uuid, ${uploads.tenant.id}::uuid, 1)`)
  await folder(slow, long)
  await folder(ended, new Date())
  await folder(randomUUID(), long)
  await folder(coming, new Date())
  await tidyUp()
  assert.deepEqual((await readdir(join(uploads.directory, 'uploads'))).sort(), [coming, slow].sort())
  await uploads.app.db.query(sql`DELETE FROM svc.arriving_uploads WHERE id = ${slow}::uuid`)
  await tidyUp()
  assert.deepEqual(await readdir(join(uploads.directory, 'uploads')), [coming])
})

test('tables and archives of tiles that no upload works on go, those of datasets stay', async () => {
  const { db } = uploads.app
  const hex = () => randomUUID().replaceAll('-', '')
  const failed = await uploadRecord(db, uploads.tenant.id, 'failed')
  const done = await uploads.upload({ name: 'a.csv', bytes: 'lon,lat\n1,2\n' })
  const files = join(uploads.directory, 'files', uploads.tenant.id)
  await mkdir(files, { recursive: true })
  await writeFile(join(files, `${failed}.mbtiles`), 'x')
  await writeFile(join(files, 'of-somebody-else.mbtiles'), 'x')
  const ofDataset = done.datasetId.replaceAll('-', '')
  for (const name of [`svc_up_${hex()}_1_0`, `svc_ov_${hex()}_0`, `svc_ov_${ofDataset}_u${hex().slice(0, 12)}_new_3`]) {
    await db.script(`CREATE TABLE ${uploads.schema}.${name} ()`)
  }
  await tidyUp()
  const left = await db.query<{ name: string }>(
    sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = ${uploads.schema} AND tablename LIKE 'svc%'`,
  )
  assert.deepEqual(left, [])
  assert.deepEqual(await readdir(files), ['of-somebody-else.mbtiles'])
  await rm(files, { recursive: true })
  assert.equal((await uploads.rows(done.datasetId)).length, 1)
})

const csv = (rows: number, value = 'a') => ({
  name: 'grid.csv',
  bytes: `value,lon,lat\n${Array.from({ length: rows }, (_, n) => `${value},${(n % 173) - 80},${(n % 151) - 75}`).join('\n')}\n`,
})
const inJson = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

async function made(rows = 10): Promise<{ id: string; table: string }> {
  const { id, status, datasetId, error } = await uploads.upload(csv(rows))
  assert.equal(status, 'completed', JSON.stringify(error))
  const isBuilt = async () => (await uploads.call('GET', `/api/v1/uploads/${id}`)).body.overviews.status === 'built'
  if (rows > 100) await until(isBuilt)
  return { id: datasetId, table: (await uploads.call('GET', `/api/v1/datasets/${datasetId}`)).body.source }
}

async function dataset(type: string, source: string): Promise<string> {
  const { status, body } = await uploads.call('POST', '/api/v1/datasets', inJson({ type, source, name: 'Other' }))
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

async function tables(prefix: string): Promise<string[]> {
  const rows = await uploads.app.db.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${uploads.schema} AND c.relkind = 'r' AND starts_with(c.relname, ${prefix})`)
  return rows.map(({ name }) => name)
}

const overviewsOf = (id: string) => tables(`svc_ov_${id.replaceAll('-', '')}_`)
const statusOf = async (path: string) => (await uploads.call('GET', path)).status
const remove = async (path: string) => (await uploads.call('DELETE', path)).status

test('with a dataset that an upload made go its table, its overviews and the tile sources of it', async () => {
  const { id, table } = await made(20_000)
  const second = await uploads.call('POST', '/api/v1/tilesources', inJson({ type: 'dataset', source: id }))
  assert.notDeepEqual(await overviewsOf(id), [])
  assert.equal(await remove(`/api/v1/datasets/${id}`), 200)
  assert.deepEqual([await tables(table), await overviewsOf(id)], [[], []])
  for (const source of [id, second.body.id]) assert.equal(await statusOf(`/api/v1/tilesources/${source}`), 404)
  assert.equal(await statusOf(`/tiles/${id}/index.json`), 404)
})

test('DELETE of a dataset with keepData leaves its table', async () => {
  const { id, table } = await made()
  assert.equal(await remove(`/api/v1/datasets/${id}?keepData=true`), 200)
  assert.deepEqual(await tables(table), [table])
  assert.equal(await statusOf(`/api/v1/tilesources/${id}`), 404)
})

test('a table that another dataset names stays, however it is named; the last one that an upload made takes it along', async () => {
  for (const [type, source] of [
    ['table', (name: string) => `"${name}"`],
    ['table', (name: string) => `${uploads.schema}.${name}`],
    ['sql', (name: string) => `SELECT count(*) AS n FROM ${name} AS q`],
  ] as const) {
    const { id, table } = await made()
    const other = await dataset(type, source(table))
    assert.equal(await remove(`/api/v1/datasets/${id}`), 200)
    assert.deepEqual(await tables(table), [table], source(table))
    assert.equal((await uploads.call('GET', `/api/v1/datasets/${other}/query`)).status, 200)
  }
})

test('the table of a dataset that no upload made stays', async () => {
  await uploads.app.db.script(`CREATE TABLE ${uploads.schema}.mine (id int PRIMARY KEY)`)
  assert.equal(await remove(`/api/v1/datasets/${await dataset('table', 'mine')}`), 200)
  assert.deepEqual(await tables('mine'), ['mine'])
})

test('a dataset that was led to another table takes along the one that was uploaded, and no other', async () => {
  await uploads.app.db.script(`CREATE TABLE ${uploads.schema}.precious (id int PRIMARY KEY)`)
  const { id, table } = await made()
  await uploads.call('PATCH', `/api/v1/datasets/${id}`, inJson({ source: 'precious' }))
  assert.equal(await remove(`/api/v1/datasets/${id}`), 200)
  assert.deepEqual([await tables('precious'), await tables(table)], [['precious'], []])
})

test('nothing of the old values is left in overviews when a dataset gets fewer data', async () => {
  const { id } = await made(20_000)
  assert.notDeepEqual(await overviewsOf(id), [])
  const done = await uploads.upload(csv(5, 'b'), { datasetId: id })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.deepEqual(await overviewsOf(id), [])
})

const archive = async () => ({
  name: 'world.pmtiles',
  bytes: await readFile(new URL('../../../../../assets/basemap.pmtiles', import.meta.url)),
})
const filesOf = (applicationId: string) =>
  readdir(join(uploads.directory, 'files', applicationId)).catch(() => [] as string[])

test('with the last tile source of an uploaded archive goes its file', async () => {
  const { tileSourceId } = await uploads.upload(await archive(), { name: 'The world' })
  const { body } = await uploads.call('GET', `/api/v1/tilesources/${tileSourceId}`)
  assert.equal(body.name, 'The world')
  const second = await uploads.call('POST', '/api/v1/tilesources', inJson({ type: 'tilelive', source: body.source }))
  assert.equal(await remove(`/api/v1/tilesources/${tileSourceId}`), 200)
  assert.equal((await filesOf(uploads.tenant.id)).length, 1)
  assert.equal(await remove(`/api/v1/tilesources/${second.body.id}`), 200)
  assert.deepEqual(await filesOf(uploads.tenant.id), [])
})

test('a worker that has lost its upload leaves the archive that another one has published', async () => {
  const { id, tileSourceId } = await uploads.upload(await archive())
  const { db, services } = uploads.app
  const { files, storage } = services.uploading
  const source = join(uploads.directory, 'late')
  await writeFile(source, (await archive()).bytes)
  const parts = { db, files, storage, archiveMap: async () => ({ minZoom: 0, maxZoom: 0, extentLngLat: [0, 0, 1, 1] }) }
  const late = { id, applicationId: uploads.tenant.id, claim: randomUUID(), fileName: 'a.pmtiles', options: {} }
  const run = runArchive(parts as unknown as LoadingParts, late as unknown as ClaimedUpload, source, 'pmtiles')
  await assert.rejects(run, UploadLost)
  assert.deepEqual(await filesOf(uploads.tenant.id), [`${id}.pmtiles`])
  assert.equal(await remove(`/api/v1/tilesources/${tileSourceId}`), 200)
})

test('with an application go its files', async () => {
  const tenant = await uploads.app.tenant('doomed')
  await uploads.upload(await archive(), {}, tenant.developer)
  assert.equal((await filesOf(tenant.id)).length, 1)
  assert.equal((await uploads.app.call('DELETE', `/api/v1/applications/${tenant.id}`)).status, 200)
  assert.deepEqual(await readdir(join(uploads.directory, 'files')).then((names) => names.includes(tenant.id)), false)
})

test('a dataset whose table is being read for long stays as it is, and says why', {
  skip: !process.env.TEST_DATABASE_URL,
}, async () => {
  const { id, table } = await made()
  const reader = openPostgres({ platform: readPlatformServer(uploads.app.url ?? ''), poolSize: 1, onError: () => {} })
  const status = await reader.transaction(async (tx) => {
    await tx.script(`LOCK TABLE ${uploads.schema}.${table} IN ACCESS SHARE MODE`)
    return remove(`/api/v1/datasets/${id}`)
  })
  await reader.close()
  assert.equal(status, 409)
  assert.equal(await statusOf(`/api/v1/tilesources/${id}`), 200)
  assert.equal(await remove(`/api/v1/datasets/${id}`), 200)
})
