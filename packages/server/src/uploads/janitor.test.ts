import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import { uploadRecord } from '../testing/upload-record.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { tidy } from './janitor.ts'

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

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
  await folder(ended, new Date())
  await folder(randomUUID(), long)
  await folder(coming, new Date())
  await tidy({ db: uploads.app.db, directory: uploads.directory })
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
  await tidy({ db, directory: uploads.directory })
  const left = await db.query<{ name: string }>(
    sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = ${uploads.schema} AND tablename LIKE 'svc%'`,
  )
  assert.deepEqual(left, [])
  assert.deepEqual(await readdir(files), ['of-somebody-else.mbtiles'])
  assert.equal((await uploads.rows(done.datasetId)).length, 1)
})
