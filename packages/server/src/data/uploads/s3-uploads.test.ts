// One database is enough: what is tested is where files are.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { s3Storage } from '../../../testing/peers/s3-storage.ts'
import { pmtilesOf, writeMbtiles } from '../../../testing/tile-archives.ts'
import { until } from '../../../testing/until.ts'
import { uploadRecord } from '../../../testing/uploads/upload-record.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import type { App } from '../../boot/app.ts'
import { sql } from '../../kernel/db/sql.ts'
import { tidy } from './publish/janitor.ts'

// Two replicas with one bucket and no directory in common: `uploads` receives files and works on none, `worker` works.

let storage: Awaited<ReturnType<typeof s3Storage>>
let uploads: UploadApp
let worker: App
let folder: string
const log: string[] = []
before(async () => {
  storage = await s3Storage()
  folder = await mkdtemp(join(tmpdir(), 's3-uploads-'))
  const settings = { ...storage.settings, S3_TIMEOUT_MS: '2000', STORAGE_PER_APPLICATION: '5000000' }
  uploads = await uploadApp(settings, (line) => log.push(line))
  worker = await uploads.app.replica({ DATA_DIR: join(folder, 'data') })
  Object.assign(uploads.app.services.uploading, { announce: worker.services.uploading.announce })
})
afterEach(() => {
  Object.assign(storage.proxy, { mode: 'pass', only: /^/ })
})
after(async () => {
  await uploads.close()
  await storage.close()
  await rm(folder, { recursive: true, force: true })
})

const bytes = gzipSync('a tile')
const csv = { name: 'places.csv', bytes: 'name,lon,lat\nx,1,2\n' }
const pmtiles = (content = bytes) => ({ name: 'a.pmtiles', bytes: pmtilesOf([{ z: 0, x: 0, y: 0, bytes: content }]) })

async function mbtiles() {
  const path = join(folder, 'a.mbtiles')
  await rm(path, { force: true })
  writeMbtiles(path, [{ z: 0, x: 0, y: 0, bytes }])
  return { name: 'a.mbtiles', bytes: await readFile(path) }
}

const headers = () => ({ 'x-api-key': uploads.tenant.developer, 'accept-encoding': 'gzip' })
const getHere = (url: string) => uploads.app.http.inject({ url, headers: headers() })
const getThere = (url: string) => worker.http.inject({ url, headers: headers() })

test('a file that one replica receives is loaded by another, and goes when it is loaded', async () => {
  const done = await uploads.upload(csv)
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  assert.equal((await uploads.rows(done.datasetId)).length, 1)
  assert.deepEqual(await keptKeys(), [])
})

test('archives of tiles are served by every replica, and go with their last tile source', async () => {
  for (const file of [pmtiles(), await mbtiles()]) {
    const done = await uploads.upload(file)
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.deepEqual(await keptKeys(), [`files/${uploads.tenant.id}/${done.id}.${file.name.slice(2)}`])
    for (const get of [getHere, getThere]) {
      const answer = await get(`/tiles/${done.tileSourceId}/0/0/0.pbf`)
      assert.equal(answer.statusCode, 200, answer.body)
      assert.ok(answer.rawPayload.equals(bytes))
    }
    const removed = await uploads.call('DELETE', `/api/v1/tilesources/${done.tileSourceId}`)
    assert.equal(removed.status, 200)
    assert.deepEqual(await storage.keys(), [])
  }
})

test('with an application go its files, those that wait and those of the operator', async () => {
  const tenant = await uploads.app.tenant('doomed')
  await uploads.upload(pmtiles(), {}, tenant.developer)
  await storage.put(`files/${tenant.id}/folder/own.pmtiles`, pmtiles().bytes)
  assert.equal((await keptKeys()).length, 2)
  assert.equal((await uploads.app.call('DELETE', `/api/v1/applications/${tenant.id}`)).status, 200)
  assert.deepEqual(await storage.keys(), [])
})

test('an archive that the operator put into the bucket is served, and counts for the quota', async () => {
  await storage.put(`files/${uploads.tenant.id}/own.pmtiles`, pmtiles().bytes)
  const made = await uploads.call('POST', '/api/v1/tilesources', inJson('pmtiles://own.pmtiles'))
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal((await getThere(`/tiles/${made.body.id}/0/0/0.pbf`)).statusCode, 200)
  assert.equal((await uploads.call('POST', '/api/v1/tilesources', inJson('pmtiles://none.pmtiles'))).status, 400)
  await storage.put(`files/${uploads.tenant.id}/large`, Buffer.alloc(5_000_000))
  assert.equal((await uploads.send(csv)).body.code, 'storage_quota')
  for (const name of ['large', 'own.pmtiles'])
    await uploads.app.services.files.remove(`files/${uploads.tenant.id}/${name}`)
})

/** The files that stay; those of uploads go just after the record has ended. */
async function keptKeys(): Promise<string[]> {
  await until(async () => (await storage.keys()).every((key) => !key.startsWith('uploads/')))
  return storage.keys()
}

const inJson = (source: string) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ type: 'tilelive', source }),
})

test('while the storage fails no upload is acknowledged, and nothing of it is left', async () => {
  await tidyUp()
  storage.proxy.mode = 'busy'
  const refused = await uploads.send(csv)
  assert.equal(refused.status, 503)
  assert.equal(refused.body.code, 'storage_unavailable')
  assert.equal(refused.headers.get('retry-after'), '5')
  storage.proxy.mode = 'pass'
  assert.deepEqual(await uploads.leftovers(), [])
  assert.deepEqual(await storage.keys(), [])
})

test('an upload whose file cannot be fetched waits for the storage, however often it was tried', async () => {
  Object.assign(storage.proxy, { mode: 'down', only: /^(GET|HEAD) \S+\/source/ })
  const { status, body } = await uploads.send(csv)
  assert.equal(status, 200)
  for (let times = 0; times < 5; times++) await tryAgain(body.id)
  storage.proxy.mode = 'pass'
  await tryAgain(body.id, 'completed')
  assert.deepEqual(await keptKeys(), [])
})

/** Lets the worker try an upload that waits, until it has the status; 'pending' if it waits again. */
async function tryAgain(id: string, wanted = 'pending'): Promise<void> {
  const { db } = uploads.app
  await db.query(sql`UPDATE svc.uploads SET heard_at = NULL WHERE id = ${id}::uuid AND status = 'pending'`)
  worker.services.uploading.announce()
  await until(async () => {
    const [row] = await db.query<{ status: string }>(sql`
      SELECT status FROM svc.uploads
      WHERE id = ${id}::uuid AND (status = 'completed' OR (status = 'pending' AND heard_at > clock_timestamp()))`)
    return row?.status === wanted
  })
}

test('a storage that does not answer fails tiles in time, and those that are known are served', async () => {
  const done = await uploads.upload(pmtiles())
  const url = (z: number) => `/tiles/${done.tileSourceId}/${z}/0/0.pbf`
  assert.equal((await getHere(url(0))).statusCode, 200)
  storage.proxy.mode = 'hang'
  assert.equal((await getHere(url(0))).statusCode, 200)
  const other = await getThere(url(0))
  assert.equal(other.statusCode, 503, other.body)
  assert.equal(other.json().code, 'storage_unavailable')
  storage.proxy.mode = 'pass'
  assert.equal((await getThere(url(0))).statusCode, 200)
  storage.proxy.mode = 'busy'
  const removed = await uploads.call('DELETE', `/api/v1/tilesources/${done.tileSourceId}`)
  assert.equal(removed.status, 200)
  storage.proxy.mode = 'pass'
  assert.equal((await keptKeys()).length, 1)
  await tidyUp()
  assert.deepEqual(await storage.keys(), [])
})

const tidyUp = () => tidy({ db: uploads.app.db, directory: uploads.directory, files: uploads.app.services.files })

test('files in the storage that no record names go, those that may still be recorded stay', async () => {
  const ended = await uploadRecord(uploads.app.db, uploads.tenant.id, 'failed')
  await storage.put(`uploads/${ended}/source`, 'left by a server that died')
  await storage.put('uploads/0a0b0c0d-0000-4000-8000-000000000000/source', 'arrives at another replica')
  await storage.put(`files/${uploads.tenant.id}/${ended}.mbtiles`, 'of an upload that has failed')
  await storage.put(`files/${uploads.tenant.id}/own.mbtiles`, 'the operator’s')
  await tidyUp()
  const left = [`files/${uploads.tenant.id}/own.mbtiles`, 'uploads/0a0b0c0d-0000-4000-8000-000000000000/source']
  assert.deepEqual(await storage.keys(), left)
})

test('the log has no secret of the storage', () => {
  assert.ok(log.some((line) => line.includes('storage_unavailable')))
  const secret = storage.credentials.secretAccessKey
  assert.deepEqual(
    log.filter((line) => line.includes(secret) || /Signature=[0-9a-f]/.test(line)),
    [],
  )
})
