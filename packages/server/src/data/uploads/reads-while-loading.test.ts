import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'

// On the embedded database all share one session. How long others wait depends on the machine, so what is measured is how much is
// written between two of their queries.

const isEmbedded = { skip: Boolean(process.env.TEST_DATABASE_URL) }

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const points = (rows: number) => ({
  name: 'large.csv',
  bytes: `lon,lat,name\n${Array.from({ length: rows }, (_, n) => `${((n * 7919) % 36000) / 100 - 180},${((n * 104729) % 17000) / 100 - 85},place ${n}`).join('\n')}\n`,
})

/** Of all tables and indexes of the upload. */
async function loadedBytes(): Promise<number> {
  const [row] = await uploads.app.db.query<{ bytes: number }>(sql`
    SELECT coalesce(sum(pg_relation_size(oid)), 0)::float8 AS bytes FROM pg_class
    WHERE relnamespace = ${uploads.schema}::regnamespace AND starts_with(relname, 'svc_up_')`)
  return row?.bytes ?? 0
}

/** What is written between one query and the next, as long as the upload is loaded. */
async function bytesBetweenQueries(rows: number): Promise<number[]> {
  const { body } = await uploads.send(points(rows))
  let isEnded = false
  const ended = uploads.ended(body.id).finally(() => {
    isEnded = true
  })
  const steps: number[] = []
  for (let before = 0; !isEnded; ) {
    const bytes = await loadedBytes()
    if (bytes > before) steps.push(bytes - before)
    before = bytes
  }
  assert.equal((await ended).featureCount, rows)
  return steps
}

test('a query waits for a small piece of a file that is loaded, and for none of its indexes', isEmbedded, async () => {
  const steps = await bytesBetweenQueries(60_000)
  assert.ok(Math.max(...steps) < 1024 ** 2, `${Math.max(...steps)} bytes were written between two queries`)
})
