import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { claimNext } from './record/upload-state.ts'

// One database is enough: whose turn it is, one statement chooses; upload.test.ts and crash.test.ts send it to both.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ UPLOADS_PER_APPLICATION: '50' })
})
after(() => uploads.close())

async function waitingUpload(applicationId: string): Promise<void> {
  const id = randomUUID()
  await uploads.app.db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'a', ${id}, ${json({})}, 1)`)
}

test('the application with the fewest uploads under way is next, and those with as many take turns', async () => {
  const { db } = uploads.app
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => uploads.app.tenant(name)))
  assert.ok(a && b && c)
  const names = new Map([a, b, c].map(({ id }, index) => [id, 'abc'[index]]))
  for (let n = 0; n < 6; n++) await waitingUpload(a.id)
  for (let n = 0; n < 3; n++) await waitingUpload(b.id)
  await waitingUpload(c.id)
  const next = async (perApplication = 10, passed: string[] = []) => {
    // Turns are told apart by the millisecond.
    await sleep(2)
    const claimed = await claimNext(db, { perApplication, passed })
    return claimed && names.get(claimed.applicationId)
  }
  const taken: unknown[] = []
  for (let n = 0; n < 6; n++) taken.push(await next())
  assert.deepEqual(taken.slice(0, 3).toSorted(), ['a', 'b', 'c'], 'each once before any twice')
  assert.deepEqual(taken.slice(3, 5).toSorted(), ['a', 'b'])
  assert.equal(await next(10, [a.id, b.id]), undefined)
  assert.equal(await next(1), undefined)
  // None under way: the one whose last turn is longest ago is next, though another has waited for longer.
  await db.query(sql`UPDATE svc.uploads SET status = 'cancelled' WHERE status = 'processing'`)
  const last = taken.at(-1)
  const after = await next()
  assert.notEqual(after, last)
  await db.query(sql`DELETE FROM svc.uploads`)
})

test('one application that queues twenty slow files does not keep the small file of another waiting', async (t) => {
  const slow = `a,lon,lat\n${Array.from({ length: 30_000 }, (_, n) => `some text ${n},${n % 170},${n % 80}`).join('\n')}\n`
  const other = await uploads.app.tenant('other')
  const sent: string[] = []
  for (let n = 0; n < 20; n++) sent.push((await uploads.send({ name: 'slow.csv', bytes: slow })).body.id)
  const pending = async () => (await uploads.call('GET', '/api/v1/uploads?filter[status]=pending')).body.length
  const before = await pending()
  assert.ok(before >= 4, `${before} wait`)
  const begun = performance.now()
  const done = await uploads.upload({ name: 'small.csv', bytes: 'a,lon,lat\n1,2,3\n' }, {}, other.developer)
  const seconds = (performance.now() - begun) / 1000
  t.diagnostic(`done after ${seconds.toFixed(1)} s`)
  const waiting = await pending()
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  // In the order of arrival none of them would.
  assert.ok(waiting >= before / 2, `${waiting} of ${before} still wait`)
  for (const id of sent) await uploads.call('DELETE', `/api/v1/uploads/${id}`)
})
