import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../../../../testing/until.ts'
import { ApiError } from '../../errors.ts'
import type { Db } from '../db.ts'
import type { GuardedOptions } from '../guarded.ts'
import { raw, sql } from '../sql.ts'
import { openEmbedded } from './embedded.ts'
import { defaultLimits, type EmbeddedLimits } from './embedded-limits.ts'

const megabyte = 1024 * 1024

/** Less of everything, so that the tests do not take minutes: what a query does at a limit does not depend on where it is. */
const limits: EmbeddedLimits = {
  ...defaultLimits,
  cpuMs: 600,
  temporaryBytes: 16 * megabyte,
  answerBytes: 16 * megabyte,
}
/** All statements, where a usual run has some. */
const isWholeRun = process.env.TEST_ALL !== undefined

/** Minutes of work that calls out for nothing, so that it has to be interrupted. */
const few = '(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))'
const endless = `SELECT count(*) FROM ${Array.from({ length: 10 }, (_, index) => `${few} t${index}`).join(', ')}`

/** Minutes inside one function that does not look whether it was cancelled: only the end of the thread stops it. */
const deaf =
  'SELECT ST_HausdorffDistance(l, ST_Translate(l, 1, 1), 0.0001) FROM (SELECT ST_MakeLine(ST_Point(n, n % 7) ORDER BY n) AS l FROM generate_series(1, 1000) n) q'

const tooLarge = (what: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === 'too_large' && error.status === 413 && what.test(error.message)
const timedOut = (what: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === 'query_timeout' && what.test(error.message)

describe('a query of a tenant on the embedded database', { skip: Boolean(process.env.TEST_DATABASE_URL) }, () => {
  let parent: string
  let directory: string
  let db: Db

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'graticule-limits-'))
    directory = join(parent, 'database')
    db = await openEmbedded({ directory, onError: () => {}, limits })
    await db.script('CREATE ROLE one; CREATE ROLE two; CREATE TABLE written (n int)')
  })
  after(async () => {
    await db.close()
    await rm(parent, { recursive: true })
  })

  const begin = (statement: string, options: Partial<GuardedOptions> = {}) =>
    db.guarded(raw(statement), { role: 'one', schema: 'public', timeoutMs: 300_000, ...options })

  async function rowsOf(statement: string, options: Partial<GuardedOptions> = {}): Promise<unknown[][]> {
    const { batches } = await begin(statement, options)
    return (await Array.fromAsync(batches)).flat()
  }

  const temporaryFiles = (): Promise<string[]> => readdir(join(directory, 'base', 'pgsql_tmp')).catch(() => [])

  /** Files that are open and have no name any more take room on the disk. */
  const namelessFiles = async (): Promise<number> => {
    const targets = readdirSync('/proc/self/fd').map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
    return (await Promise.all(targets)).filter((path) => path.startsWith(directory) && path.endsWith('(deleted)'))
      .length
  }

  test('has the limit of the database for its time, whatever its timeout says', async () => {
    assert.deepEqual([defaultLimits.cpuMs, defaultLimits.elapsedMs], [10_000, 20_000])
    await assert.rejects(rowsOf(endless), timedOut(/longer than 0\.6 s of CPU time, or 20 s in all/))
  })

  test('that calls out for nothing is cancelled without a restart, and told of a shorter timeout that it has', async () => {
    const started = () => db.query(sql`SELECT pg_postmaster_start_time() AS at`)
    const before = await started()
    await assert.rejects(rowsOf(endless), timedOut(/limits/))
    await assert.rejects(rowsOf(endless, { timeoutMs: 300 }), timedOut(/timeout of 300 ms .*at most 600/))
    assert.deepEqual(await started(), before)
  })

  test('is stopped without a restart where it reads, writes or collects', async () => {
    const [before] = await db.query(sql`SELECT pg_backend_pid() AS pid, pg_postmaster_start_time() AS started`)
    for (const statement of [
      'WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r',
      'SELECT generate_series(1, 1000000000) AS g',
    ]) {
      await assert.rejects(rowsOf(statement), (error) => error instanceof ApiError && error.status >= 400, statement)
    }
    const [later] = await db.query(sql`SELECT pg_backend_pid() AS pid, pg_postmaster_start_time() AS started`)
    assert.deepEqual(later, before)
  })

  test('that cannot be cancelled is ended with its session, and fails nobody else: answers that are read, statements, transactions and queries that wait go on', async () => {
    const started = () => db.query(sql`SELECT pg_postmaster_start_time() AS at`)
    const before = await started()
    // Large rows, because a busy machine must send them all within the time.
    const { batches } = await begin('SELECT g, repeat(md5(g::text), 100) FROM generate_series(1, 2000) g', {
      role: 'two',
    })
    assert.ok(!Array.isArray(batches))
    let rows = 0
    for await (const batch of batches) {
      if (rows === 0) await stopOneAmongOthers()
      for (const [g] of batch) assert.equal(g, String(++rows))
    }
    assert.equal(rows, 2_000)
    assert.notDeepEqual(await started(), before)
    assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM written`), [{ n: 21 }])
  })

  async function stopOneAmongOthers(): Promise<void> {
    const stopped = assert.rejects(rowsOf(deaf, { timeoutMs: 300 }), timedOut(/300 ms/))
    const writes = Array.from({ length: 20 }, (_, n) => db.query(sql`INSERT INTO written VALUES (${n})`))
    const transaction = db.transaction((tx) => tx.query(sql`INSERT INTO written VALUES (100)`))
    const others = Array.from({ length: 20 }, () => rowsOf('SELECT 1', { role: 'two' }))
    await Promise.all([stopped, ...writes, transaction])
    assert.deepEqual(await Promise.all(others), Array(20).fill([['1']]))
  }

  const hungry = [
    'SELECT array_agg(g) FROM generate_series(1, 100000000) g',
    `SELECT length(repeat('x', 1 << 29))`,
    `SELECT length(string_agg(repeat('x', 100000), '')) FROM generate_series(1, 1000000)`,
    `SELECT jsonb_agg(repeat('x', 10000)) FROM generate_series(1, 1000000) g`,
    'SELECT ST_NPoints(ST_GeneratePoints(ST_Buffer(ST_Point(0, 0), 1), 20000000))',
    'SELECT ST_NPoints(ST_Buffer(ST_Point(0, 0), 1, 20000000))',
    'SELECT ST_VoronoiPolygons(ST_GeneratePoints(ST_Buffer(ST_Point(0, 0), 1), 2000000))',
    'SELECT ST_Segmentize(ST_MakeLine(ST_Point(0, 0), ST_Point(1, 1)), 0.00000001)',
  ]
  for (const statement of isWholeRun ? hungry : hungry.slice(1, 2)) {
    test(`has 256 MB of memory: ${statement}`, async () => {
      await assert.rejects(
        rowsOf(statement),
        (error) => tooLarge(/256 MB of memory|MB of temporary files/)(error) || timedOut(/limits/)(error),
      )
      assert.deepEqual(await rowsOf('SELECT ST_AsText(ST_Point(1, 2))'), [['POINT(1 2)']])
    })
  }

  test('gives its memory back', async () => {
    const size = () => process.memoryUsage.rss() / megabyte
    await db.query(sql`SELECT 1`)
    const before = size()
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, size())
    }, 50)
    for (const statement of hungry.slice(2, 4)) await assert.rejects(rowsOf(statement), ApiError)
    clearInterval(watch)
    assert.ok(most - before < 700, `${before} MB before, ${most} MB at most`)
    await until(() => size() - before < 300)
  })

  test('has 256 MB of temporary files, and none are left', async () => {
    assert.equal(defaultLimits.temporaryBytes, 256 * megabyte)
    const sort =
      'SELECT count(*) FROM (SELECT repeat(md5(g::text), 10) m FROM generate_series(1, 5000000) g ORDER BY 1) x'
    await assert.rejects(
      rowsOf(sort),
      (error) => tooLarge(/16 MB of temporary files/)(error) || timedOut(/limits/)(error),
    )
    // Whether it was cancelled or ended with its thread: the next statement finds a session without leftovers.
    await db.query(sql`SELECT 1`)
    assert.deepEqual(await temporaryFiles(), [])
    const killed = `SELECT * FROM (SELECT repeat(md5(g::text), 10) m FROM generate_series(1, 30000) g ORDER BY 1) x, (${endless}) y`
    await assert.rejects(rowsOf(killed), timedOut(/limits/))
    await db.query(sql`SELECT 1`)
    assert.deepEqual(await temporaryFiles(), [])
    assert.ok((await namelessFiles()) <= 1)
  })

  test('has an answer of bounded size, of which nothing is left', async () => {
    const statement = `SELECT repeat('x', 1000000) FROM generate_series(1, 1000)`
    await assert.rejects(rowsOf(statement), tooLarge(/answer is larger than 16 MB/))
    assert.ok((await namelessFiles()) <= 1)
  })

  test('has an answer of 256 MB at most, which takes no memory', { skip: !isWholeRun }, async () => {
    // With more time than a busy machine needs: a session that is replaced because of its time takes memory as well.
    const patient = await openEmbedded({
      directory: join(parent, 'patient'),
      onError: () => {},
      limits: { ...defaultLimits, cpuMs: 100_000, elapsedMs: 300_000 },
    })
    try {
      await patient.script('CREATE ROLE one')
      const before = process.memoryUsage.rss()
      const statement = raw(`SELECT repeat('x', 1000000) FROM generate_series(1, 1000)`)
      const options = { role: 'one', schema: 'public', timeoutMs: 100_000 }
      await assert.rejects(patient.guarded(statement, options), tooLarge(/answer is larger than 256 MB/))
      assert.ok(process.memoryUsage.rss() - before < 300 * megabyte)
    } finally {
      await patient.close()
    }
  })

  test('whose reader leaves is stopped, and leaves the queue if it still waits', async () => {
    const reader = new AbortController()
    const running = assert.rejects(rowsOf(endless, { signal: reader.signal }), /left/)
    const waiting = Array.from({ length: 10 }, () => assert.rejects(rowsOf(endless, { signal: reader.signal }), /left/))
    const other = rowsOf('SELECT 1', { role: 'two' })
    reader.abort(new Error('The reader has left'))
    await Promise.all([running, ...waiting])
    assert.deepEqual(await other, [['1']])
  })

  test('is refused with 429 when 64 of the same tenant wait already', async () => {
    const queries = Array.from({ length: 70 }, () =>
      rowsOf('SELECT 1').then(
        () => 200,
        (error) => error.status,
      ),
    )
    const other = await rowsOf('SELECT 1', { role: 'two' })
    const answers = await Promise.all(queries)
    assert.deepEqual(other, [['1']])
    assert.equal(answers.filter((status) => status === 429).length, 70 - 65)
    assert.equal(answers.filter((status) => status === 200).length, 65)
  })

  test('can be nothing but a SELECT', async () => {
    for (const statement of [
      'RESET ROLE',
      'SET search_path = svc',
      'COMMIT',
      'DELETE FROM written',
      'SELECT 1; COMMIT',
    ]) {
      await assert.rejects(rowsOf(statement), /syntax error|cannot insert multiple/, statement)
    }
    assert.deepEqual(await rowsOf('SELECT current_user::text'), [['one']])
  })
})
