import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import { until } from '../testing/until.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { createReaders } from './reader-process.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-watchdog-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const cache = () => join(directory, 'cache')
const options = () => ({ fileName: 'a', directory, allowNativeGdal: false })

/** So many rows that reading takes a second or two. */
function manyRows(path: string, rows = 1_000_000): void {
  using database = new DatabaseSync(path)
  database.exec(`
    PRAGMA application_id = 0x47504B47;
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT); INSERT INTO gpkg_contents VALUES ('t', 'attributes');
    CREATE TABLE t (fid INTEGER PRIMARY KEY, a TEXT);
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${rows}) INSERT INTO t SELECT n, 'value ' || n FROM r`)
}

test('a reader from which nothing is heard is ended, and the file is told to be at fault', async () => {
  const file = join(directory, 'silent.gpkg')
  manyRows(file, 10)
  const reader = createReaders(cache(), { stalled: 300 }).take(new AbortController().signal)
  const [{ pid = 0 } = {}] = await children()
  process.kill(pid, 'SIGSTOP')
  const begun = performance.now()
  await assert.rejects(reader.open(file, options()), { name: 'ReadFault', code: 'read_timeout' })
  assert.ok(performance.now() - begun < 5_000)
  await reader.ended
})

test('a reader whose rows nobody takes is not ended, however long that lasts', async () => {
  const file = join(directory, 'many.gpkg')
  manyRows(file, 300_000)
  const reader = createReaders(cache(), { stalled: 4_000 }).take(new AbortController().signal)
  await reader.open(file, options())
  const layer = await reader.scan('t', () => undefined)
  const columns = [{ kind: 'fid' }, { kind: 'field', field: 0, type: 'text' }] as const
  const { rows, sent } = reader.encode({ layer: layer.name, columns, hasAreas: false }, () => undefined)
  let bytes = 0
  for await (const { bytes: piece } of rows) {
    // Longer than it may be silent, while the pipe is full.
    if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 6_000))
    bytes += piece.length
  }
  await sent
  assert.ok(bytes > 300_000 * 20)
  await reader.end()
})

async function children(): Promise<{ pid: number }[]> {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return text
    .split(' ')
    .filter(Boolean)
    .map((pid) => ({ pid: Number(pid) }))
}

test('an upload that is worked on for too long fails and leaves nothing, also while the database works', async () => {
  const uploads: UploadApp = await uploadApp({ UPLOAD_WORK_SECONDS: '2' })
  try {
    const { db } = uploads.app
    // Publishing waits for a lock that is not released.
    const made = await uploads.upload({ name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' })
    assert.equal(made.status, 'completed')
    if (!process.env.TEST_DATABASE_URL) return
    let id = ''
    await db.transaction(async (tx) => {
      await tx.query(sql`SELECT id FROM svc.datasets WHERE id = ${made.datasetId}::uuid FOR UPDATE`)
      id = (await uploads.send({ name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' }, { datasetId: made.datasetId })).body.id
      await until(async () => (await uploads.call('GET', `/api/v1/uploads/${id}`)).body.status === 'failed')
    })
    const { error } = (await uploads.call('GET', `/api/v1/uploads/${id}`)).body
    assert.equal(error.code, 'work_timeout', JSON.stringify(error))
    assert.deepEqual(await uploads.leftovers(), [])
  } finally {
    await uploads.close()
  }
})
