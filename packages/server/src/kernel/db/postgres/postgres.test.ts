import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { until } from '../../../../testing/until.ts'
import { ApiError } from '../../errors.ts'
import { readPlatformServer } from '../../libpq/platform-server.ts'
import type { Db } from '../db.ts'
import { sql } from '../sql.ts'
import { openPostgres } from './postgres.ts'

const isUnavailable = (error: unknown): boolean => {
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, 'unavailable')
  assert.equal(error.headers['Retry-After'], '2')
  return true
}

describe('PostgreSQL', { skip: !process.env.TEST_DATABASE_URL }, () => {
  let testDb: TestDatabase
  /** Looks on from outside. */
  let observer: Db
  let db: Db
  const errors: unknown[] = []

  before(async () => {
    testDb = await testDatabase()
    observer = testDb.db
    db = openPostgres({
      platform: readPlatformServer(testDb.url ?? ''),
      poolSize: 5,
      onError: (error) => errors.push(error),
    })
  })

  after(async () => {
    await db.close()
    await testDb.close()
  })

  /** Ends the connections of `db`, and not the one that asks. */
  async function terminateAll(): Promise<void> {
    await observer.query(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
  }

  async function running(text: string): Promise<number> {
    const [row] = await observer.query(sql`SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE ${`%${text}%`}`)
    return Number(row?.n)
  }

  /** Less than the statements would take that are to be ended. */
  const limitMs = 15_000

  const openAll = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 5 }, () => db.query(sql`SELECT pg_sleep(0.05)`)))

  test('reads survive the end of all connections, and so does the process', async () => {
    for (let round = 0; round < 5; round++) {
      await openAll()
      await terminateAll()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => db.query(sql`SELECT ${n}::int AS n`)))
      assert.deepEqual(
        answers.flat(),
        Array.from({ length: 20 }, (_, n) => ({ n })),
      )
    }
    assert.ok(errors.length > 0)
  })

  test('transactions begin on a living connection', async () => {
    await openAll()
    await terminateAll()
    const answer = await db.transaction((tx) => tx.query(sql`SELECT 1 AS one`))
    assert.deepEqual(answer, [{ one: 1 }])
  })

  test('a read that is interrupted is repeated', async () => {
    const reading = db.query(sql`SELECT 1 AS one, pg_sleep(3)::text AS nothing`)
    await until(async () => (await running('pg_sleep(3)')) === 1)
    await terminateAll()
    assert.deepEqual(await reading, [{ one: 1, nothing: '' }])
  })

  test('a write that is interrupted fails as unavailable and is not repeated', async () => {
    await db.script('CREATE TABLE written (n int)')
    const writing = db.query(sql`INSERT INTO written SELECT 1 FROM pg_sleep(20)`)
    const expected = assert.rejects(writing, isUnavailable)
    await until(async () => (await running('INSERT INTO written')) === 1, limitMs)
    await terminateAll()
    await expected
    assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM written`), [{ n: 0 }])
  })

  test('a transaction and its reader that lose their connection fail as unavailable', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query(sql`SELECT 1`)
      await terminateAll()
      await sleep(50)
      await tx.query(sql`SELECT 2`)
    })
    await assert.rejects(work, isUnavailable)
    await assert.rejects(async () => {
      for await (const _ of db.rows(sql`SELECT * FROM generate_series(1, 100000)`)) await terminateAll()
    }, isUnavailable)
    assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  })

  for (const where of ['outside', 'inside'] as const) {
    test(`an aborted reader ends the statement on the server (${where} a transaction)`, async () => {
      const controller = new AbortController()
      const slow = sql`SELECT pg_sleep(30), ${where} AS place`
      // Inside a transaction the rows come from a cursor, and the server shows what reads it.
      const shown = where === 'inside' ? 'FETCH' : 'pg_sleep(30)'
      const read = async (session: Pick<Db, 'rows'>): Promise<void> => {
        for await (const _ of session.rows(slow, { signal: controller.signal }));
      }
      const reading = where === 'inside' ? db.transaction(read) : read(db)
      const expected = assert.rejects(reading, { name: 'AbortError' })
      await until(async () => (await running(shown)) === 1, limitMs)
      controller.abort()
      await expected
      await until(async () => (await running(shown)) === 0, limitMs)
    })
  }

  test('readers who abort while they think use up no connections', async () => {
    for (let round = 0; round < 12; round++) {
      const controller = new AbortController()
      const rows = db.rows(sql`SELECT * FROM generate_series(1, 1000)`, { batchSize: 10, signal: controller.signal })
      await rows[Symbol.asyncIterator]().next()
      controller.abort()
    }
    assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  })

  test('connections are named and watch for clients that are gone', async () => {
    const [row] = await db.query(sql`SELECT current_setting('application_name') AS name,
      current_setting('client_connection_check_interval') AS interval, current_setting('TimeZone') AS zone`)
    assert.deepEqual(row, { name: 'graticule', interval: '1s', zone: 'UTC' })
  })

  test('a server that cannot be reached is unavailable, and used at once when it is back', async () => {
    const gate = await openGate(new URL(testDb.url ?? ''))
    const gated = openPostgres({ platform: readPlatformServer(gate.url), poolSize: 3, onError: () => {} })
    await Promise.all([1, 2, 3].map(() => gated.query(sql`SELECT pg_sleep(0.02)`)))
    await gate.shut()
    for (let round = 0; round < 10; round++) await assert.rejects(gated.query(sql`SELECT 1`), isUnavailable)
    await assert.rejects(
      gated.transaction(async () => 1),
      isUnavailable,
    )
    await gate.reopen()
    const started = performance.now()
    assert.deepEqual(await gated.query(sql`SELECT 1 AS one`), [{ one: 1 }])
    assert.ok(performance.now() - started < 30_000)
    await gated.close()
    await gate.shut()
    await assert.rejects(gated.query(sql`SELECT 1`), isUnavailable)
  })

  test('a request for which a new connection is being opened takes one that others give back before', async () => {
    const gate = await openGate(new URL(testDb.url ?? ''))
    const gated = openPostgres({ platform: readPlatformServer(gate.url), poolSize: 2, onError: () => {} })
    const [held, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = gated.transaction(() => {
      held.resolve()
      return mayEnd.promise
    })
    await held.promise
    const isOpening = gate.stall()
    const waiting = gated.query(sql`SELECT 1 AS one`)
    await isOpening
    mayEnd.resolve()
    await holding
    assert.deepEqual(await waiting, [{ one: 1 }])
    await gated.close()
    await gate.shut()
  })

  test('when all connections stay in use the wait ends as unavailable', async () => {
    const small = openPostgres({ platform: readPlatformServer(testDb.url ?? ''), poolSize: 1, onError: () => {} })
    const [held, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = small.transaction(() => {
      held.resolve()
      return mayEnd.promise
    })
    await held.promise
    await assert.rejects(small.query(sql`SELECT 1`), isUnavailable)
    mayEnd.resolve()
    await holding
    assert.deepEqual(await small.query(sql`SELECT 1 AS one`), [{ one: 1 }])
    await small.close()
  })
})

/**
 * A way to the server that can be shut, as when the server stops: connections end and new ones are refused. Where it stalls, new ones
 * get no answer.
 */
async function openGate(target: URL) {
  const sockets = new Set<Socket>()
  let onStalled: (() => void) | undefined
  const accept = (socket: Socket): void => {
    if (onStalled) {
      sockets.add(socket.on('error', () => {}))
      onStalled()
      return
    }
    const onward = connect(Number(target.port), target.hostname)
    for (const side of [socket, onward]) {
      sockets.add(side)
      side.on('error', () => {}).on('close', () => sockets.delete(side))
    }
    socket.pipe(onward).pipe(socket)
  }
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(accept).listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(target)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    async shut() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    /** Resolves when somebody connects. */
    stall: () =>
      new Promise<void>((resolve) => {
        onStalled = resolve
      }),
    async reopen() {
      server = await listen(port)
    },
  }
}
