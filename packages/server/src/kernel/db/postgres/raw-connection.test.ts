import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { until } from '../../../../testing/until.ts'
import { ApiError } from '../../errors.ts'
import { readPlatformServer } from '../../libpq/platform-server.ts'
import { sql } from '../sql.ts'
import { createMessageMemory } from '../wire/message-framer.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'

const skip = process.env.TEST_DATABASE_URL === undefined ? 'only PostgreSQL speaks the protocol' : false

describe('a connection whose rows are handed over as they come', { skip }, () => {
  let database: TestDatabase
  const open: RawConnection[] = []
  before(async () => {
    database = await testDatabase()
  })
  after(async () => {
    for (const connection of open) connection.close()
    await database?.close()
  })

  async function connect(settings = ''): Promise<RawConnection> {
    const connection = await connectRaw(
      { platform: readPlatformServer(database.url ?? '') },
      settings,
      createMessageMemory(),
    )
    open.push(connection)
    return connection
  }

  async function rows(
    connection: RawConnection,
    text: string,
    columns = 1,
    options: { values?: (string | null)[]; isUntrusted?: boolean } = {},
  ) {
    const found: (string | null)[][] = []
    const binary = Array.from({ length: columns }, () => false)
    await connection.run(
      { text, values: options.values ?? [], binary, isUntrusted: options.isUntrusted ?? false },
      (bytes, at) => {
        found.push(
          binary.map((_, index) =>
            (at[2 * index] ?? -1) < 0 ? null : bytes.toString('utf8', at[2 * index], at[2 * index + 1]),
          ),
        )
      },
    )
    return found
  }

  test('gives each row whole, whatever the pieces it arrives in', async () => {
    const connection = await connect()
    const found = await rows(
      connection,
      `SELECT n, repeat('é', n * 997), NULLIF(n % 3, 0), '' FROM generate_series(1, 300) n`,
      4,
    )
    assert.equal(found.length, 300)
    for (const [index, row] of found.entries()) {
      const n = index + 1
      assert.deepEqual(row, [String(n), 'é'.repeat(n * 997), n % 3 === 0 ? null : String(n % 3), ''])
    }
  })

  test('gives each row whole while others read at the same time', async () => {
    const letters = ['a', 'b', 'c', 'd']
    const found = await Promise.all(
      letters.map(async (letter) =>
        rows(await connect(), `SELECT repeat('${letter}', n * 1009 % 150000) FROM generate_series(1, 300) n`),
      ),
    )
    for (const [index, letter] of letters.entries())
      for (const [n, [text]] of found[index]?.entries() ?? [])
        assert.ok(text === letter.repeat(((n + 1) * 1009) % 150_000), `row ${n} of ${letter}`)
  })

  test('takes values, NULL and empty text among them, and answers statements one after the other', async () => {
    const connection = await connect()
    for (const values of [
      ['a', null],
      ['', 'b'],
      ["'; DROP TABLE x --", '地'],
    ])
      assert.deepEqual(await rows(connection, 'SELECT $1::text, $2::text', 2, { values }), [values])
  })

  test('carries more different statements than it keeps', async () => {
    const connection = await connect()
    for (let n = 0; n < 130; n++) assert.deepEqual(await rows(connection, `SELECT ${n}`), [[String(n)]])
    for (let n = 129; n >= 0; n--) assert.deepEqual(await rows(connection, `SELECT ${n}`), [[String(n)]])
  })

  test('gives binary forms where they are asked for', async () => {
    const connection = await connect()
    const found: unknown[] = []
    await connection.run(
      { text: 'SELECT 258::int4, 258::int4', values: [], binary: [true, false], isUntrusted: false },
      (bytes, at) => found.push(bytes.readInt32BE(at[0]), bytes.toString('utf8', at[2], at[3])),
    )
    assert.deepEqual(found, [258, '258'])
  })

  test('fails with the code of the database, and is of no use afterwards', async () => {
    const connection = await connect()
    await assert.rejects(rows(connection, 'SELECT 1 / (3 - n) FROM generate_series(1, 5) n'), { code: '22012' })
    assert.equal(connection.isOpen, false)
    await assert.rejects(rows(connection, 'SELECT 1'), ApiError)
  })

  test('fails when the reader does, after which nothing more is handed over and the query ends', async () => {
    const connection = await connect()
    let seen = 0
    // Long rows, because the server sends short ones together with the next.
    const text = "SELECT repeat('a', 100000) || pg_sleep(n)::text FROM unnest(ARRAY[0, 0, 30]) n"
    const broken = connection.run({ text, values: [], binary: [false], isUntrusted: false }, () => {
      seen++
      throw new Error('the reader is broken')
    })
    const begun = performance.now()
    await assert.rejects(broken, /the reader is broken/)
    assert.ok(performance.now() - begun < 25_000)
    assert.equal(seen, 1)
    assert.equal(connection.isOpen, false)
  })

  test("lets somebody else's statement neither write nor leave anything behind", async () => {
    await database.db.script('CREATE TABLE victim (id int)')
    const connection = await connect()
    const before = await rows(connection, `SELECT current_setting('search_path')`)
    await rows(connection, `SELECT set_config('search_path', 'evil', false)`, 1, { isUntrusted: true })
    assert.deepEqual(await rows(connection, `SELECT current_setting('search_path')`), before)
    await assert.rejects(rows(connection, 'INSERT INTO victim VALUES (1) RETURNING id', 1, { isUntrusted: true }), {
      code: '25006',
    })
    const other = await connect()
    await assert.rejects(
      rows(other, `SELECT set_config('transaction_read_only', 'off', false), (SELECT count(*) FROM victim)`, 2, {
        isUntrusted: true,
      }),
    )
  })

  /** All sent in one turn: what came of each, in the order in which they ended. */
  async function sent(connection: RawConnection, texts: readonly string[], onRow = (_: string) => {}) {
    const ended: string[] = []
    const rowsOf = (text: string, bytes: Buffer, at: Int32Array) => {
      onRow(text)
      ended.push(`${text} has ${bytes.toString('utf8', at[0], at[1])}`)
    }
    const all = texts.map(
      (text) =>
        new Promise<void>((resolve) =>
          connection.send(
            { text, values: [], binary: [false], isUntrusted: false },
            (bytes, at) => rowsOf(text, bytes, at),
            (error) => resolve(void ended.push(`${text} ${error ? 'failed' : 'ended'}`)),
          ),
        ),
    )
    assert.equal(connection.underWay, texts.length)
    await Promise.all(all)
    assert.equal(connection.underWay, 0)
    return ended
  }

  test('carries several statements at a time, and ends them in their order', async () => {
    const connection = await connect()
    for (const texts of [
      ['SELECT 1', 'SELECT 2', 'SELECT 1 WHERE false', 'SELECT 1'],
      ['SELECT 2', 'SELECT 3'],
    ]) {
      const wanted = texts.flatMap((text) =>
        text.endsWith('false') ? [`${text} ended`] : [`${text} has ${text.slice(-1)}`, `${text} ended`],
      )
      assert.deepEqual(await sent(connection, texts), wanted)
    }
    assert.ok(connection.isOpen)
  })

  test('ends with a statement that fails, and those behind it fail too, each once', async () => {
    const connection = await connect()
    assert.deepEqual(await sent(connection, ['SELECT 1', 'SELECT 1 / 0', 'SELECT 3']), [
      'SELECT 1 has 1',
      'SELECT 1 ended',
      'SELECT 1 / 0 failed',
      'SELECT 3 failed',
    ])
    assert.equal(connection.isOpen, false)
    const later = await connect()
    const refuse = (text: string): void => {
      if (text === 'SELECT 2') throw new Error('too many rows')
    }
    assert.deepEqual(await sent(later, ['SELECT 1', 'SELECT 2', 'SELECT 3'], refuse), [
      'SELECT 1 has 1',
      'SELECT 1 ended',
      'SELECT 2 failed',
      'SELECT 3 failed',
    ])
  })

  test('has the settings of its session', async () => {
    const connection = await connect(`SET statement_timeout = '77s'; SET search_path = x`)
    assert.deepEqual(
      await rows(connection, `SELECT current_setting('statement_timeout'), current_setting('search_path')`, 2),
      [['77s', 'x']],
    )
  })

  for (const [how, end] of [
    ['is cancelled', (connection: RawConnection) => connection.cancel()],
    // A cancel request that overtakes its statement does nothing.
    ['is closed, though no cancel request arrives', (connection: RawConnection) => connection.close()],
  ] as const) {
    test(`ends what is going on when it ${how}`, async () => {
      const connection = await connect()
      const running = rows(connection, 'SELECT pg_sleep(60)')
      const active = async () => {
        const [row] = await database.db.query<{ n: number }>(
          sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%' AND state = 'active'`,
        )
        return row?.n
      }
      await until(async () => (await active()) === 1)
      end(connection)
      await assert.rejects(running)
      assert.equal(connection.isOpen, false)
      await until(async () => (await active()) === 0, 20_000)
    })
  }

  test('tells a server that went away from a query that failed', async () => {
    const connection = await connect()
    const [[pid] = []] = await rows(connection, 'SELECT pg_backend_pid()')
    const isUnavailable = (error: unknown) => error instanceof ApiError && error.code === 'unavailable'
    const refused = assert.rejects(rows(connection, 'SELECT pg_sleep(30)'), isUnavailable)
    await until(async () => {
      const found = await database.db.query(
        sql`SELECT FROM pg_stat_activity WHERE pid = ${Number(pid)}::int4 AND query = 'SELECT pg_sleep(30)'`,
      )
      return found.length === 1
    })
    await database.db.query(sql`SELECT pg_terminate_backend(${Number(pid)}::int4)`)
    await refused
    const idle = await connect()
    const [[second] = []] = await rows(idle, 'SELECT pg_backend_pid()')
    await database.db.query(sql`SELECT pg_terminate_backend(${Number(second)}::int4)`)
    await until(() => !idle.isOpen)
    await assert.rejects(rows(idle, 'SELECT 1'), isUnavailable)
  })

  test('is not made where nobody listens, or with a wrong name', async () => {
    const nobody = connectRaw(
      { platform: readPlatformServer('postgres://postgres@127.0.0.1:9/postgres') },
      '',
      createMessageMemory(),
    )
    await assert.rejects(nobody, (error) => error instanceof ApiError && error.code === 'unavailable')
    const url = new URL(database.url ?? '')
    url.pathname = '/there_is_none'
    await assert.rejects(connectRaw({ platform: readPlatformServer(url.href) }, '', createMessageMemory()), {
      code: '3D000',
    })
  })
})
