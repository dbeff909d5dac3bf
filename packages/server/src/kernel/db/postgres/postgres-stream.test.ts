import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { forwardDatabase } from '../../../../testing/peers/forwarded-database.ts'
import { until } from '../../../../testing/until.ts'
import { ApiError } from '../../errors.ts'
import { readPlatformServer } from '../../libpq/platform-server.ts'
import type { Db } from '../db.ts'
import { raw, type Sql, sql } from '../sql.ts'
import type { ResultCell } from '../values.ts'
import { openPostgres } from './postgres.ts'
import { connectClient } from './postgres-client.ts'
import { streamRows } from './postgres-stream.ts'
import { createMessageReader } from './raw-reader.ts'

const skip = process.env.TEST_DATABASE_URL === undefined ? 'only PostgreSQL speaks the protocol' : false
const options = { schema: 'public', timeoutMs: 20_000 }

describe('rows that flow as fast as they are read', { skip }, () => {
  let database: TestDatabase
  let db: Db
  before(async () => {
    database = await testDatabase()
    // One connection: what is left behind on it would be met by whoever comes next.
    db = openPostgres({ platform: readPlatformServer(database.url ?? ''), poolSize: 1, onError: () => {} })
  })
  after(async () => {
    await db?.close()
    await database?.close()
  })

  async function all(statement: Sql): Promise<ResultCell[][]> {
    const { batches } = await db.guarded(statement, options)
    return (await Array.fromAsync(batches)).flat()
  }
  const pid = async () => (await db.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`))[0]?.pid

  test('each value arrives whole, whatever its letters and whatever the pieces it comes in', async () => {
    const text = (n: number) =>
      ['plain', '', 'é'.repeat(n), '😀'.repeat(n % 50), `a${'x'.repeat(n * 31)}ß`][n % 5] ?? ''
    const values = Array.from({ length: 3_000 }, (_, n) => text(n))
    const found = await all(sql`
      SELECT n - 1, value, NULLIF(n % 3, 0) FROM unnest(${values}::text[]) WITH ORDINALITY AS t (value, n)`)
    const expected = values.map((value, n) => [String(n), value, (n + 1) % 3 === 0 ? null : String((n + 1) % 3)])
    assert.deepEqual(found, expected)
  })

  test('answers of no rows, of no columns and of one large row are whole', async () => {
    assert.deepEqual(await all(sql`SELECT 1 WHERE false`), [])
    assert.deepEqual(await all(sql`SELECT FROM generate_series(1, 3)`), [[], [], []])
    const [[large] = []] = await all(sql`SELECT repeat('äb', 4000000)`)
    assert.equal(large, 'äb'.repeat(4_000_000))
  })

  test('the connection serves the next statement when the rows are read', async () => {
    const first = await pid()
    for (let round = 0; round < 5; round++) {
      const rows = await all(sql`SELECT * FROM generate_series(1, 20000)`)
      assert.equal(rows.length, 20_000)
      assert.deepEqual(await db.query(sql`SELECT ${'é'} AS text`), [{ text: 'é' }])
    }
    assert.equal(await pid(), first)
  })

  test("a reader's own time does not count, the server's does", async () => {
    const { batches } = await db.guarded(sql`SELECT n, repeat('x', 2000) FROM generate_series(1, 20000) n`, {
      ...options,
      timeoutMs: 5_000,
    })
    let count = 0
    for await (const batch of batches) {
      if (count === 0) await setTimeout(6_000)
      count += batch.length
    }
    assert.equal(count, 20_000)
    const slow = db.guarded(sql`SELECT pg_sleep(20)`, { ...options, timeoutMs: 200 })
    await assert.rejects(slow, (error) => error instanceof ApiError && error.code === 'query_timeout')
  })

  test('a reader that waits holds little, and the server waits with it', async () => {
    const { batches } = await db.guarded(sql`SELECT repeat('x', 1000) FROM generate_series(1, 1000000)`, options)
    assert.ok(!Array.isArray(batches))
    const reader = batches[Symbol.asyncIterator]()
    await reader.next()
    const rss = process.memoryUsage().rss
    await setTimeout(1_000)
    assert.ok(process.memoryUsage().rss - rss < 100 << 20)
    await reader.return?.()
  })

  test('a row that fails in the middle fails the reader, and the next statement has a fresh connection', async () => {
    const broken = all(sql`SELECT 1 / (n - 15000) FROM generate_series(1, 20000) n`)
    await assert.rejects(broken, { code: '22012' })
    assert.equal((await all(sql`SELECT 1`)).length, 1)
  })

  test('a statement and its transaction take one round trip', async () => {
    const { url, turns, close } = await countTurns(database.url ?? '')
    const far = openPostgres({ platform: readPlatformServer(url), poolSize: 1, onError: () => {} })
    const ask = async (atMost?: number) => {
      const { batches } = await far.guarded(sql`SELECT ${'x'}::text`, { ...options, ...(atMost && { atMost }) })
      return (await Array.fromAsync(batches)).flat()
    }
    try {
      await ask()
      for (const atMost of [undefined, 1]) {
        const before = turns()
        assert.deepEqual(await ask(atMost), [['x']])
        assert.equal(turns() - before, 1)
      }
    } finally {
      await far.close()
      close()
    }
  })

  test('a statement is not run when a command that goes before it fails', async () => {
    await database.db.script('CREATE SEQUENCE tries')
    const client = await connectClient({ platform: readPlatformServer(database.url ?? '') }, 'test', async () => {})
    const statement = { text: `SELECT nextval('tries')`, values: [], after: ['ROLLBACK'] }
    try {
      const failing = streamRows(client, { ...statement, before: ['BEGIN', 'SET LOCAL lock_timeout = -5'] }, 10)
      await assert.rejects(failing.next(), { code: '22023' })
      await client.query('ROLLBACK')
      const { rows, isLast } = await streamRows(client, { ...statement, before: ['BEGIN'] }, 10).next()
      assert.deepEqual({ rows, isLast }, { rows: [['1']], isLast: true })
    } finally {
      await client.end()
    }
  })

  test('after a short answer, whole or failed, no transaction is left open and the next one writes nothing', async () => {
    const short = { ...options, atMost: 1 }
    await db.guarded(sql`SELECT 1`, short)
    await assert.rejects(db.guarded(sql`SELECT 1 / 0`, short), { code: '22012' })
    await assert.rejects(db.guarded(sql`CREATE TABLE written (n int)`, short), { code: '25006' })
    const open = () =>
      database.db.query(sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`)
    // A connection that is closed ends a moment later on the server.
    await until(async () => (await open()).length === 0)
  })

  test('leaving ends the statement, also while the server waits for the socket', async () => {
    const mark = 'left in the middle'
    const statement = raw(
      `SELECT repeat('x', 1000) /* ${mark} */ FROM generate_series(1, 9000) a, generate_series(1, 9000) b`,
    )
    const { batches } = await db.guarded(statement, options)
    for await (const _ of batches) break
    const running = () =>
      database.db.query(sql`
        SELECT 1 FROM pg_stat_activity WHERE query LIKE ${`%${mark}%`} AND pid <> pg_backend_pid()`)
    await until(async () => (await running()).length === 0)
    assert.equal((await all(sql`SELECT 1`)).length, 1)
  })
})

/** A way to the server that counts how often the client spoke after the server did. */
async function countTurns(url: string): Promise<{ url: string; turns(): number; close(): void }> {
  let count = 0
  let hasAnswered = true
  const forwarded = await forwardDatabase(url, (isAnswer) => {
    if (!isAnswer && hasAnswered) count++
    hasAnswered = isAnswer
  })
  return { ...forwarded, turns: () => count }
}

test('messages are put together whatever the pieces they come in, and a length that cannot be is refused', () => {
  const message = (text: string): Buffer => {
    const bytes = Buffer.from(`D0000${text}`)
    bytes.writeInt32BE(bytes.length - 1, 1)
    return bytes
  }
  const texts = ['', 'a', 'bc', 'x'.repeat(300), '', 'end']
  const whole = Buffer.concat(texts.map(message))
  for (let size = 1; size < 40; size++) {
    const seen: string[] = []
    const read = createMessageReader((_, bytes, start, end) => seen.push(bytes.toString('latin1', start, end)))
    for (let at = 0; at < whole.length; at += size) read(whole.subarray(at, at + size))
    assert.deepEqual(seen, texts)
  }
  for (const length of [-5, 0, 3, 0x7fffffff]) {
    const bytes = message('wrong')
    bytes.writeInt32BE(length, 1)
    assert.throws(() => createMessageReader(() => {})(bytes), /message of|larger than/)
  }
})
