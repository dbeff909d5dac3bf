import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { stays, until } from '../../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../../testing/uploads.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { json, sql } from '../../../kernel/db/sql.ts'
import { createStatusWatch } from './status-watch.ts'

// One database is enough: who waits is told from memory; upload.test.ts waits on both.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const forever = new AbortController().signal

async function waitingUpload(): Promise<string> {
  const id = randomUUID()
  // Nobody takes it: it was tried too often.
  await uploads.app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size, attempts)
    VALUES (${id}::uuid, ${uploads.tenant.id}::uuid, 'a', ${id}, ${json({})}, 1, 9)`)
  return id
}

/** A database that counts what it is asked. */
function counted(): { db: Db; count(): number } {
  let count = 0
  const { db } = uploads.app
  const query: Db['query'] = (statement) => {
    count++
    return db.query(statement)
  }
  return { db: { ...db, query }, count: () => count }
}

test('however many clients wait, the database is asked once in each interval, and never while nobody waits', async () => {
  const { db, count } = counted()
  const watch = createStatusWatch(db, 50)
  const ids = await Promise.all(Array.from({ length: 5 }, waitingUpload))
  const waits = Array.from({ length: 200 }, (_, n) =>
    watch.changed(ids[n % 5] ?? '', { status: 'pending' }, 60_000, forever),
  )
  await until(() => count() >= 4)
  assert.ok(count() < 20)
  // Changed by another replica.
  await uploads.app.db.query(sql`UPDATE svc.uploads SET status = 'cancelled' WHERE id = ANY(${ids}::uuid[])`)
  await Promise.all(waits)
  const before = count()
  await stays(() => count() - before <= 1, 200)
})

test('a change between the reading of the status and the waiting is seen at once', async () => {
  const watch = createStatusWatch(uploads.app.db, 60_000)
  const id = await waitingUpload()
  await uploads.app.db.query(sql`UPDATE svc.uploads SET status = 'cancelled' WHERE id = ${id}::uuid`)
  const begun = performance.now()
  await watch.changed(id, { status: 'pending' }, 30_000, forever)
  assert.ok(performance.now() - begun < 10_000)
})

test('a change by this process is told at once, a deleted upload too, and who leaves or has left does not wait', async () => {
  const watch = createStatusWatch(uploads.app.db, 100)
  const id = await waitingUpload()
  const begun = performance.now()
  await watch.changed(id, { status: 'pending' }, 60_000, AbortSignal.abort())
  const leaving = new AbortController()
  const left = watch.changed(id, { status: 'pending' }, 60_000, leaving.signal)
  leaving.abort()
  await left
  const told = watch.changed(id, { status: 'pending' }, 60_000, forever)
  watch.tell(id)
  await told
  await watch.changed(id, { status: 'pending' }, 30, forever)
  await watch.changed(id, { status: 'processing' }, 60_000, forever)
  const deleted = watch.changed(id, { status: 'pending' }, 60_000, forever)
  await uploads.app.db.query(sql`DELETE FROM svc.uploads WHERE id = ${id}::uuid`)
  await deleted
  assert.ok(performance.now() - begun < 20_000)
})

test('who names a revision is answered at progress, and at once if there was some already; who names a status is not', async () => {
  const watch = createStatusWatch(uploads.app.db, 60_000)
  const id = await waitingUpload()
  const advance = () =>
    uploads.app.db.query(sql`UPDATE svc.uploads SET progress = 0.5, revision = revision + 1 WHERE id = ${id}::uuid`)
  let isAnswered = false
  const leaving = new AbortController()
  const ofStatus = watch.changed(id, { status: 'pending' }, 60_000, leaving.signal).then(() => {
    isAnswered = true
  })
  const ofRevision = watch.changed(id, { revision: '1' }, 60_000, forever)
  await advance()
  watch.tellProgress(id)
  await ofRevision
  await watch.changed(id, { revision: '1' }, 60_000, forever)
  assert.equal(isAnswered, false)
  leaving.abort()
  await ofStatus
})

const readUpload = (id: string, etag: string | null, prefer: string) =>
  uploads.call('GET', `/api/v1/uploads/${id}`, { headers: { prefer, 'if-none-match': etag ?? '' } })

test('a client that names what it has seen learns of what happened since at once, and waits for the next change', async () => {
  const id = await waitingUpload()
  const { db } = uploads.app
  const seen = (await uploads.call('GET', `/api/v1/uploads/${id}`)).headers.get('etag')
  await db.query(sql`
    UPDATE svc.uploads SET status = 'processing', stage = 'loading', progress = 0.4, feature_count = 120, revision = revision + 1,
      worker = ${randomUUID()}::uuid, heard_at = 'infinity' WHERE id = ${id}::uuid`)
  const late = await readUpload(id, seen, 'wait=60')
  assert.deepEqual(
    [late.status, late.body.status, late.body.progress, late.body.featureCount],
    [200, 'processing', 0.4, 120],
  )
  const etag = late.headers.get('etag')
  const next = readUpload(id, etag, 'wait=60')
  await db.query(sql`UPDATE svc.uploads SET progress = 0.7, revision = revision + 1 WHERE id = ${id}::uuid`)
  assert.equal((await next).body.progress, 0.7)
  const unchanged = await readUpload(id, (await next).headers.get('etag'), 'wait=1')
  assert.deepEqual([unchanged.status, unchanged.headers.get('preference-applied')], [304, 'wait=1'])
  await uploads.call('DELETE', `/api/v1/uploads/${id}`)
  const ended = await readUpload(id, unchanged.headers.get('etag'), 'wait=60')
  assert.deepEqual([ended.body.status, ended.body.featureCount], ['cancelled', null])
})

test('a client that waits is answered when its upload is cancelled', async () => {
  const id = await waitingUpload()
  const waiting = uploads.call('GET', `/api/v1/uploads/${id}`, { headers: { prefer: 'wait=30' } })
  await new Promise((resolve) => setTimeout(resolve, 100))
  await uploads.call('DELETE', `/api/v1/uploads/${id}`)
  assert.equal((await waiting).body.status, 'cancelled')
})
