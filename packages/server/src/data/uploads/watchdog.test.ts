import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createReaders, type ReaderProcess } from './reader-process/reader-process.ts'

// One database is enough: readers are watched by this process; upload.test.ts cancels an upload on both.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-watchdog-'))
  writeManyRows()
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

const options = () => ({ fileName: 'a', directory, allowNativeGdal: false })
const rowCount = 300_000
const columns = [{ kind: 'fid' }, { kind: 'field', field: 0, type: 'text' }] as const

/** So many rows that they fill the pipe many times. */
const manyRows = () => join(directory, 'many.gpkg')

function writeManyRows(): void {
  using database = new DatabaseSync(manyRows())
  database.exec(`
    PRAGMA application_id = 0x47504B47;
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT); INSERT INTO gpkg_contents VALUES ('t', 'attributes');
    CREATE TABLE t (fid INTEGER PRIMARY KEY, a TEXT);
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${rowCount}) INSERT INTO t SELECT n, 'value ' || n FROM r`)
}

async function startReader(stalled: number): Promise<{ reader: ReaderProcess; pid: number }> {
  const before = await children()
  const readers = createReaders(join(uploads.directory, 'cache'), { stalled })
  const reader = readers.take(new AbortController().signal)
  const [pid = 0] = (await children()).filter((child) => !before.includes(child))
  return { reader, pid }
}

async function children(): Promise<number[]> {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

test('a reader from which nothing is heard is ended, and the file is told to be at fault', async () => {
  const { reader, pid } = await startReader(300)
  process.kill(pid, 'SIGSTOP')
  await assert.rejects(reader.open(manyRows(), options()), { name: 'ReadFault', code: 'read_timeout' })
  await reader.ended
})

test('a reader whose rows nobody takes is not ended, however long that lasts', async () => {
  const { reader } = await startReader(10_000)
  await reader.open(manyRows(), options())
  const layer = await reader.scan('t', () => undefined)
  const { rows, sent } = reader.encode({ layer: layer.name, columns, hasAreas: false }, () => undefined)
  let bytes = 0
  for await (const { bytes: piece } of rows) {
    // Longer than it may be silent, while the pipe is full.
    if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 12_000))
    bytes += piece.length
  }
  await sent
  assert.ok(bytes > rowCount * 20)
  await reader.end()
})

for (const { ends, signal, stalled, error } of [
  { ends: 'is killed', signal: 'SIGKILL', stalled: 60_000, error: { name: 'ReaderDied', message: /SIGKILL/ } },
  { ends: 'stands still', signal: 'SIGSTOP', stalled: 10_000, error: { name: 'ReadFault', code: 'read_timeout' } },
]) {
  test(`a reader that ${ends} while it sends rows fails them with the reason`, async () => {
    const { reader, pid } = await startReader(stalled)
    await reader.open(manyRows(), options())
    await reader.scan('t', () => undefined)
    const { rows, sent } = reader.encode({ layer: 't', columns, hasAreas: false }, () => undefined)
    let isFirst = true
    const reading = async (): Promise<void> => {
      for await (const _ of rows) {
        if (isFirst) process.kill(pid, signal)
        isFirst = false
      }
    }
    await assert.rejects(reading(), error)
    await assert.rejects(sent, error)
    await reader.ended
  })
}

test('an upload that is cancelled while GDAL reads it leaves no process behind', async () => {
  // Each process of GDAL has a directory of its own; the next one waits with an empty one.
  const places = join(uploads.directory, 'cache', 'gdal')
  const busyPlace = async () =>
    (await readdir(places).catch(() => [])).find((name) => existsSync(join(places, name, 'source', 'job')))
  const isRunning = async (place: string) => (await run('ps', ['-eo', 'args'])).stdout.includes(place)
  const member = '<gml:featureMember><a><gml:Point><gml:pos>1 2</gml:pos></gml:Point></a></gml:featureMember>'
  const gml = `<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">${member.repeat(50_000)}</gml:FeatureCollection>`
  const { body } = await uploads.send({ name: 'a.gml', bytes: gml })
  let place = ''
  await until(async () => {
    place = (await busyPlace()) ?? ''
    return place !== ''
  })
  assert.equal(await isRunning(place), true)
  assert.equal((await uploads.call('DELETE', `/api/v1/uploads/${body.id}`)).status, 200)
  assert.deepEqual(await uploads.leftovers(15_000), [])
  await until(async () => !((await isRunning(place)) || existsSync(join(places, place))))
})

test('an upload that is worked on for too long fails and leaves nothing, also while the database works', async () => {
  const server = await uploads.beside({ UPLOAD_WORK_SECONDS: '2' })
  const { db } = server.app
  const file = { name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' }
  // Publishing waits for a lock that is not released.
  let made = await server.upload(file)
  // On a busy machine two seconds may be too short for this one.
  while (made.error?.code === 'work_timeout') made = await server.upload(file)
  assert.equal(made.status, 'completed')
  let id = ''
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT id FROM svc.datasets WHERE id = ${made.datasetId}::uuid FOR UPDATE`)
    id = (await server.send(file, { datasetId: made.datasetId })).body.id
    await until(async () => (await server.call('GET', `/api/v1/uploads/${id}`)).body.status === 'failed')
  })
  const { error } = (await server.call('GET', `/api/v1/uploads/${id}`)).body
  assert.equal(error.code, 'work_timeout', JSON.stringify(error))
  assert.deepEqual(await server.leftovers(), [])
})
