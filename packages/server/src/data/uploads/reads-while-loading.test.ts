import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../../testing/until.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'

// On the embedded database all share one session. How long others wait depends on the machine, so what is measured is how much is
// written between two of their queries.

const megabyte = 1024 ** 2
const isEmbedded = { skip: Boolean(process.env.TEST_DATABASE_URL) }

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ OVERVIEW_MIN_ROWS: '5000' })
})
after(() => uploads.close())

const points = (rows: number, key = '') => ({
  name: 'large.csv',
  bytes: `${key && `${key},`}lon,lat,name\n${Array.from({ length: rows }, (_, n) => `${key && `${n + 7},`}${((n * 7919) % 36000) / 100 - 180},${((n * 104729) % 17000) / 100 - 85},place ${n}`).join('\n')}\n`,
})

/** Of all tables and indexes whose names begin so. */
async function bytesOf(prefix: string): Promise<number> {
  const [row] = await uploads.app.db.query<{ bytes: number }>(sql`
    SELECT coalesce(sum(pg_relation_size(oid)), 0)::float8 AS bytes FROM pg_class
    WHERE relnamespace = ${uploads.schema}::regnamespace AND starts_with(relname, ${prefix})`)
  return row?.bytes ?? 0
}

/** The most that is written between one query and the next. */
async function mostBetweenQueries(prefix: string, work: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  let most = 0
  for (let before = await bytesOf(prefix); !isOver; ) {
    const bytes = await bytesOf(prefix)
    most = Math.max(most, bytes - before)
    before = bytes
  }
  await over
  return most
}

const overviewsBuilt = (id: string): Promise<void> =>
  until(async () => (await uploads.call('GET', `/api/v1/uploads/${id}`)).body.overviews?.status === 'built')

test(
  'a query waits for a small piece of a file that is loaded, and of its overviews, and for no index',
  isEmbedded,
  async () => {
    const { body } = await uploads.send(points(30_000))
    const loaded = await mostBetweenQueries('svc_up_', uploads.ended(body.id))
    assert.ok(loaded > 0 && loaded < megabyte, `${loaded} bytes of the table were written between two queries`)
    const drawn = await mostBetweenQueries('svc_ov_', overviewsBuilt(body.id))
    assert.ok(drawn > 0 && drawn < megabyte, `${drawn} bytes of the overviews were written between two queries`)
  },
)

for (const [about, key, fields] of [
  ['is transformed', '', { targetSrid: '3857' }],
  ['has a key of its own', 'fid', {}],
] as const)
  test(`a query waits for a small piece of a file that ${about}, too`, isEmbedded, async () => {
    const { body } = await uploads.send(points(30_000, key), fields)
    const loaded = await mostBetweenQueries('svc_up_', uploads.ended(body.id))
    // Of rows without indexes more are written in the same time; the spatial index alone has two.
    assert.ok(loaded > 0 && loaded < 1.6 * megabyte, `${loaded} bytes of the table were written between two queries`)
    const { body: record } = await uploads.call('GET', `/api/v1/uploads/${body.id}`)
    assert.deepEqual([record.status, record.featureCount, record.warnings], ['completed', 30_000, []])
    await overviewsBuilt(body.id)
  })
