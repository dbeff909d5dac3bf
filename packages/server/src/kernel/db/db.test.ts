import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import type { Db, Queryable, Row, TupleBytes } from './db.ts'
import { ident, joinSql, json, raw, type SqlValue, sql } from './sql.ts'

let testDb: TestDatabase
let db: Db

before(async () => {
  testDb = await testDatabase()
  db = testDb.db
})

after(() => testDb.close())

async function tableOf(columns: string): Promise<string> {
  const name = `t${Math.random().toString(36).slice(2)}`
  await db.script(`CREATE TABLE ${name} (${columns})`)
  return name
}

async function count(name: string): Promise<unknown> {
  const [row] = await db.query(sql`SELECT count(*) AS n FROM ${ident(name)}`)
  return row?.n
}

async function* chunksOf(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks
}

/** A bad caller's promise, so that assert.rejects sees also what is thrown at once. */
const attempt = async (work: () => Promise<unknown>): Promise<unknown> => await work()

const roundTrips: [type: string, given: SqlValue, expected: unknown][] = [
  ['text', 'Grüße, 世界 🌍 \\ " \' \n\t', 'Grüße, 世界 🌍 \\ " \' \n\t'],
  ['text', '', ''],
  ['text', null, null],
  ['text', 'lone \ud800 surrogate', 'lone � surrogate'],
  ['int2', -32768, -32768],
  ['int4', 2147483647, 2147483647],
  ['int8', 9007199254740991, 9007199254740991],
  ['int8', 9007199254740993n, '9007199254740993'],
  ['int8', -9223372036854775808n, '-9223372036854775808'],
  ['float8', 0.1, 0.1],
  ['float8', -0, -0],
  ['float8', 5e-324, 5e-324],
  ['float8', Number.NaN, Number.NaN],
  ['float8', Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ['float4', 1.5, 1.5],
  ['numeric', '123456789012345678901234567890.123', '123456789012345678901234567890.123'],
  ['numeric', 12, '12'],
  ['bool', true, true],
  ['bool', false, false],
  ['uuid', '8f3a4c1e-0b52-4a5d-9c11-2f6a1f3f0c77', '8f3a4c1e-0b52-4a5d-9c11-2f6a1f3f0c77'],
  ['jsonb', '{"b":[1,null,"x"],"a":{"c":true}}', { b: [1, null, 'x'], a: { c: true } }],
  ['json', 'null', null],
  ['jsonb', '"\\ud83c\\udf0d"', '🌍'],
  ['timestamptz', new Date('2026-02-03T04:05:06.789Z'), new Date('2026-02-03T04:05:06.789Z')],
  ['timestamptz', '2026-02-03 04:05:06.789999+05:30', new Date('2026-02-02T22:35:06.789Z')],
  ['timestamptz', new Date('0044-03-15T00:00:00Z'), new Date('0044-03-15T00:00:00Z')],
  ['timestamptz', new Date('-000043-03-15T12:00:00Z'), new Date('-000043-03-15T12:00:00Z')],
  ['timestamptz', new Date('+012345-06-07T08:09:10Z'), new Date('+012345-06-07T08:09:10Z')],
  ['timestamptz', 'infinity', 'infinity'],
  ['timestamptz', '290000-01-01 00:00:00+00', '290000-01-01 00:00:00+00'],
  ['timestamp', new Date('2026-02-03T04:05:06.7Z'), new Date('2026-02-03T04:05:06.7Z')],
  ['timestamp', '-infinity', '-infinity'],
  ['date', '2026-02-03', '2026-02-03'],
  ['date', new Date('2026-02-03T23:59:59Z'), '2026-02-03'],
  ['interval', '1 day 02:03:04', '1 day 02:03:04'],
  ['bytea', new Uint8Array([0, 1, 92, 120, 255]), Buffer.from([0, 1, 92, 120, 255])],
  ['bytea', new Uint8Array(), Buffer.alloc(0)],
  [
    'text[]',
    ['a', 'b,c', '"', '\\', '{}', 'NULL', '', null, ' '],
    ['a', 'b,c', '"', '\\', '{}', 'NULL', '', null, ' '],
  ],
  ['text[]', [], []],
  ['int4[]', [1, null, -3], [1, null, -3]],
  ['int4[]', '[0:1]={7,8}', [7, 8]],
  [
    'int4[]',
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['int8[]', [1n, 9007199254740993n], [1, '9007199254740993']],
  ['float8[]', [0.5, Number.POSITIVE_INFINITY], [0.5, Number.POSITIVE_INFINITY]],
  ['bool[]', [true, false], [true, false]],
  ['uuid[]', ['8f3a4c1e-0b52-4a5d-9c11-2f6a1f3f0c77'], ['8f3a4c1e-0b52-4a5d-9c11-2f6a1f3f0c77']],
  ['jsonb[]', ['{"a":"b\\"c"}', '[1]', null], [{ a: 'b"c' }, [1], null]],
  ['bytea[]', [new Uint8Array([1, 255])], [Buffer.from([1, 255])]],
  ['timestamptz[]', [new Date(0), null], [new Date(0), null]],
  ['numeric[]', ['1.50', null], ['1.50', null]],
]

test('every value comes back as it went in', async () => {
  for (const [type, given, expected] of roundTrips) {
    const [row] = await db.query(sql`SELECT ${given}::${raw(type)} AS value`)
    assert.deepStrictEqual(row, { value: expected }, `${type}: ${String(given)}`)
    for await (const batch of db.rows(sql`SELECT ${given}::${raw(type)} AS value`)) {
      assert.deepStrictEqual(batch, [{ value: expected }], `rows(): ${type}`)
    }
  }
})

test('a column may have any name, and the last of two equal names wins', async () => {
  const [row] = await db.query(sql`SELECT 1 AS a, 2 AS a, 3 AS "__proto__", 4 AS "ü b"`)
  assert.deepEqual(Object.entries(row ?? {}), [
    ['a', 2],
    ['__proto__', 3],
    ['ü b', 4],
  ])
})

test('a json parameter arrives as jsonb', async () => {
  const [row] = await db.query(sql`SELECT ${json({ a: ['ü', 1.5, null] })} AS value`)
  assert.deepEqual(row, { value: { a: ['ü', 1.5, null] } })
})

test('a query with two statements is refused', async () => {
  await assert.rejects(db.query(sql`SELECT 1; SELECT 2`), { code: '42601' })
})

test('what would corrupt the wire is refused', async () => {
  await assert.rejects(
    attempt(() => db.query(sql`SELECT ${'a\0b'}::text`)),
    { code: '22021' },
  )
  await assert.rejects(
    attempt(() => db.query(sql`SELECT 1 AS ${ident('a\0b')}`)),
    { code: '42601' },
  )
  const many = Array.from({ length: 65_536 }, (_, index) => sql`${index}::int`)
  const tooMany = joinSql([raw('SELECT 1 WHERE 1 IN ('), joinSql(many, ', '), raw(')')], '')
  await assert.rejects(
    attempt(() => db.query(tooMany)),
    { code: '54023' },
  )
})

test('errors carry the code, the constraint and the detail', async () => {
  const name = await tableOf('id int CONSTRAINT one_of_each PRIMARY KEY')
  const insert = sql`INSERT INTO ${ident(name)} VALUES (${1})`
  await db.query(insert)
  await assert.rejects(db.query(insert), (error: Row) => {
    assert.ok(error instanceof Error)
    assert.equal(error.code, '23505')
    assert.equal(error.constraint, 'one_of_each')
    assert.equal(error.detail, 'Key (id)=(1) already exists.')
    assert.equal(error.table, name)
    assert.equal(error.severity, 'ERROR')
    return true
  })
})

test('thousands of failed statements do no harm', async () => {
  for (let round = 0; round < 2000; round++) await db.query(sql`SELECT 1 / ${0}::int`).catch(() => undefined)
  assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
})

test('a statement nested too deeply fails alone', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  await assert.rejects(db.query(sql`SELECT ${deep}::jsonb`), { code: '54001' })
  assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
})

test('fifty queries at once each get their own answer', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => db.query(sql`SELECT ${n}::int AS n`)))
  assert.deepEqual(
    answers.flat(),
    Array.from({ length: 50 }, (_, n) => ({ n })),
  )
})

test('a query outlives a change of the table it reads', async () => {
  const name = await tableOf('a int')
  const query = sql`SELECT * FROM ${ident(name)}`
  await db.query(sql`INSERT INTO ${ident(name)} VALUES (1)`)
  for (let round = 0; round < 12; round++) await db.query(query)
  await db.script(`ALTER TABLE ${name} ADD b text DEFAULT 'x'`)
  for (let round = 0; round < 12; round++) assert.deepEqual(await db.query(query), [{ a: 1, b: 'x' }])
})

test('a script runs all its statements, or none', async () => {
  const name = await tableOf('a int')
  await db.script(`INSERT INTO ${name} VALUES (1); INSERT INTO ${name} VALUES (2)`)
  await assert.rejects(db.script(`INSERT INTO ${name} VALUES (3); SELECT 1 / 0`), { code: '22012' })
  assert.equal(await count(name), 2)
})

test('a transaction is committed as a whole', async () => {
  const name = await tableOf('a int')
  const answer = await db.transaction(async (tx) => {
    await Promise.all([1, 2, 3].map((n) => tx.query(sql`INSERT INTO ${ident(name)} VALUES (${n})`)))
    await tx.script(`INSERT INTO ${name} VALUES (4); INSERT INTO ${name} VALUES (5)`)
    return 'done'
  })
  assert.equal(answer, 'done')
  assert.equal(await count(name), 5)
})

test('an error rolls a transaction back and reaches the caller', async () => {
  const name = await tableOf('a int')
  const failure = new Error('enough')
  const work = db.transaction(async (tx) => {
    await tx.query(sql`INSERT INTO ${ident(name)} VALUES (1)`)
    throw failure
  })
  await assert.rejects(work, failure)
  assert.equal(await count(name), 0)
})

test('a transaction whose failed statement was ignored does not pass for committed', async () => {
  const name = await tableOf('a int')
  const work = db.transaction(async (tx) => {
    await tx.query(sql`INSERT INTO ${ident(name)} VALUES (1)`)
    await tx.query(sql`SELECT 1 / 0`).catch(() => undefined)
  })
  await assert.rejects(work, /rolled back/)
  assert.equal(await count(name), 0)
})

test('a transaction cannot be used after its end', async () => {
  let leaked: Queryable | undefined
  await db.transaction(async (tx) => {
    leaked = tx
  })
  const late = leaked
  assert.ok(late)
  await assert.rejects(
    attempt(() => late.query(sql`SELECT 1`)),
    /has ended/,
  )
  await assert.rejects(
    attempt(() => late.script('SELECT 1')),
    /has ended/,
  )
  await assert.rejects(
    attempt(() => late.copyIn(raw('COPY t FROM STDIN'), chunksOf())),
    /has ended/,
  )
  await assert.rejects(async () => {
    for await (const _ of late.rows(sql`SELECT 1`));
  }, /has ended/)
})

test('the database cannot be used inside its own transaction', async () => {
  const inside = (work: () => Promise<unknown>): Promise<unknown> => db.transaction(async () => await work())
  await assert.rejects(
    inside(() => db.query(sql`SELECT 1`)),
    /use the transaction/,
  )
  await assert.rejects(
    inside(() => db.transaction(async () => 1)),
    /use the transaction/,
  )
  await assert.rejects(
    inside(async () => {
      for await (const _ of db.rows(sql`SELECT 1`));
    }),
    /use the transaction/,
  )
})

test('a bare BEGIN is refused and leaves nothing open', async () => {
  await assert.rejects(db.query(sql`BEGIN`), /transaction\(\)/)
  await assert.rejects(db.script('BEGIN; SELECT 1 / 0'), { code: '22012' })
  const ids = new Set<unknown>()
  for (let round = 0; round < 12; round++) {
    const [row] = await db.query(sql`SELECT pg_current_xact_id()::text AS id`)
    ids.add(row?.id)
  }
  assert.equal(ids.size, 12)
})

test('transactions run beside single statements without mixing', async () => {
  const name = await tableOf('a int')
  const insert = (session: Queryable, n: number) => session.query(sql`INSERT INTO ${ident(name)} VALUES (${n})`)
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const rolledBack = db.transaction(async (tx) => {
    await insert(tx, 1)
    begin()
    await new Promise((resolve) => setTimeout(resolve, 50))
    throw new Error('never mind')
  })
  const expected = assert.rejects(rolledBack, /never mind/)
  await begun
  await Promise.all(Array.from({ length: 10 }, (_, n) => insert(db, n + 2)))
  await expected
  assert.equal(await count(name), 10)
})

for (const where of ['outside', 'inside'] as const) {
  const withRows = (work: (session: Queryable) => Promise<void>): Promise<void> =>
    where === 'inside' ? db.transaction(work) : work(db)
  const numbers = (last: number) =>
    sql`SELECT n::int AS n, repeat('x', 100) AS x FROM generate_series(1, ${last}::int) AS n`

  test(`rows come in batches, in order (${where} a transaction)`, async () => {
    await withRows(async (session) => {
      const sizes: number[] = []
      let expected = 1
      for await (const batch of session.rows<{ n: number }>(numbers(1050), { batchSize: 500 })) {
        sizes.push(batch.length)
        for (const row of batch) assert.equal(row.n, expected++)
      }
      assert.deepEqual(sizes, [500, 500, 50])
    })
  })

  test(`no rows make no batch, full batches no empty one (${where} a transaction)`, async () => {
    await withRows(async (session) => {
      const sizes: number[] = []
      for (const last of [0, 20]) {
        for await (const batch of session.rows(numbers(last), { batchSize: 10 })) sizes.push(batch.length)
      }
      assert.deepEqual(sizes, [10, 10])
    })
  })

  test(`rows wait for the reader (${where} a transaction)`, async () => {
    const drawn = `s${Math.random().toString(36).slice(2)}`
    await db.script(`CREATE SEQUENCE ${drawn}`)
    await withRows(async (session) => {
      let batches = 0
      const numbered = sql`SELECT nextval(${drawn}) FROM generate_series(1, 100000)`
      for await (const _ of session.rows(numbered, { batchSize: 100 })) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        if (++batches === 3) break
      }
    })
    const [row] = await db.query(sql`SELECT last_value FROM ${ident(drawn)}`)
    // Outside a transaction the embedded database keeps the result itself, on disk, and not in the reader's memory.
    if (db.kind === 'postgres' || where === 'inside') assert.deepEqual(row, { last_value: 300 })
  })

  test(`leaving the loop frees the session (${where} a transaction)`, async () => {
    for (let round = 0; round < 15; round++) {
      await withRows(async (session) => {
        for await (const _ of session.rows(numbers(5000), { batchSize: 10 })) break
        assert.deepEqual(await session.query(sql`SELECT 1 AS one`), [{ one: 1 }])
      })
    }
    const [row] = await db.query(sql`SELECT count(*) AS open FROM pg_cursors WHERE name LIKE 'graticule%'`)
    assert.deepEqual(row, { open: 0 })
  })

  test(`other statements run between two batches (${where} a transaction)`, async () => {
    await withRows(async (session) => {
      let sum = 0
      for await (const batch of session.rows<{ n: number }>(numbers(30), { batchSize: 10 })) {
        const [row] = await session.query(sql`SELECT ${batch.length}::int AS n`)
        sum += Number(row?.n)
      }
      assert.equal(sum, 30)
    })
  })

  test(`an error in the middle of the rows reaches the reader (${where} a transaction)`, async () => {
    const work = withRows(async (session) => {
      const failing = sql`SELECT 1000 / (1500 - n) AS n FROM generate_series(1, 2000) AS n`
      for await (const _ of session.rows(failing, { batchSize: 100 }));
    })
    await assert.rejects(work, { code: '22012' })
    assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  })

  test(`an aborted reader gets the reason, and the session is free (${where} a transaction)`, async () => {
    const controller = new AbortController()
    const work = withRows(async (session) => {
      for await (const _ of session.rows(numbers(5000), { batchSize: 10, signal: controller.signal })) {
        controller.abort(new Error('gone'))
      }
    })
    await assert.rejects(work, /gone/)
    await assert.rejects(
      withRows(async (session) => {
        for await (const _ of session.rows(numbers(1), { signal: controller.signal }));
      }),
      /gone/,
    )
    assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  })
}

test('a reader who aborts does not wait for a slow statement', async () => {
  const started = performance.now()
  const rows = db.rows(sql`SELECT pg_sleep(10)`, { signal: AbortSignal.timeout(50) })
  await assert.rejects(
    async () => {
      for await (const _ of rows);
    },
    { name: 'TimeoutError' },
  )
  assert.ok(performance.now() - started < 9_000)
})

test('rows of a slow reader hold back nobody', async () => {
  for await (const _ of db.rows(sql`SELECT * FROM generate_series(1, 2000)`, { batchSize: 1000 })) {
    await db.transaction((tx) => tx.query(sql`SELECT 1`)).catch(() => assert.fail())
  }
})

test('copyIn takes every character that text can hold', async () => {
  const name = await tableOf('a int, b text')
  const lines = ['1\ttab \\t newline \\n backslash \\\\ end\n', '2\t\\N\n', '3\t\n', '4\tGrüße 🌍\n']
  assert.equal(await db.copyIn(sql`COPY ${ident(name)} (a, b) FROM STDIN`, chunksOf(...lines)), 4)
  assert.deepEqual(await db.query(sql`SELECT * FROM ${ident(name)} ORDER BY a`), [
    { a: 1, b: 'tab \t newline \n backslash \\ end' },
    { a: 2, b: null },
    { a: 3, b: '' },
    { a: 4, b: 'Grüße 🌍' },
  ])
})

test('copyIn of many megabytes is one whole', async () => {
  const name = await tableOf('a int, b text')
  const line = (n: number): string => `${n}\t${'y'.repeat(100)}\n`
  async function* lines(last: number, failAt?: number): AsyncGenerator<string> {
    for (let n = 0; n < last; n += 1000) {
      if (n === failAt) throw new Error('the source failed')
      yield Array.from({ length: 1000 }, (_, index) => line(n + index)).join('')
    }
  }
  const statement = sql`COPY ${ident(name)} FROM STDIN`
  await assert.rejects(db.copyIn(statement, lines(100_000, 90_000)), /the source failed/)
  assert.equal(await count(name), 0)
  assert.equal(await db.copyIn(statement, lines(100_000)), 100_000)
  assert.equal(await count(name), 100_000)
})

test('copyInBinary takes tuples cut anywhere, from memory that is used again', async () => {
  const name = await tableOf('a int, b text')
  const tuple = (n: number): Buffer => {
    const text = Buffer.from('é'.repeat(n % 700))
    const bytes = Buffer.alloc(14 + text.length)
    bytes.writeInt16BE(2)
    bytes.writeInt32BE(4, 2)
    bytes.writeInt32BE(n, 6)
    bytes.writeInt32BE(text.length, 10)
    bytes.set(text, 14)
    return bytes
  }
  async function* tuples(rows: number, failAt?: number): AsyncGenerator<TupleBytes> {
    const memory = Buffer.alloc(300)
    for (let n = 0; n < rows; n++) {
      if (n === failAt) throw new Error('the source failed')
      const all = tuple(n)
      for (let start = 0; start < all.length; start += memory.length) {
        const bytes = memory.subarray(0, all.copy(memory, 0, start))
        yield { bytes, isEnd: start + bytes.length === all.length }
        memory.fill(255)
      }
    }
  }
  const statement = sql`COPY ${ident(name)} FROM STDIN (FORMAT binary)`
  assert.equal(await db.copyInBinary(statement, tuples(4_000)), 4_000)
  const [row] = await db.query(sql`
    SELECT count(*) AS n, sum(a) AS sum, bool_and(b = repeat('é', a % 700)) AS "isRight" FROM ${ident(name)}`)
  assert.deepEqual(row, { n: 4_000, sum: 7_998_000, isRight: true })
  await assert.rejects(db.copyInBinary(statement, tuples(10, 5)), /the source failed/)
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.copyInBinary(statement, tuples(10))
      throw new Error('not after all')
    }),
    /not after all/,
  )
  assert.equal(await count(name), 4_000)
})

test('copyIn reports the bad line and copies nothing', async () => {
  const name = await tableOf('a int')
  const statement = sql`COPY ${ident(name)} FROM STDIN`
  await assert.rejects(db.copyIn(statement, chunksOf('1\n', 'two\n', '3\n')), (error: Row) => {
    assert.equal(error.code, '22P02')
    assert.match(String(error.where), /line 2/)
    return true
  })
  await assert.rejects(db.copyIn(sql`COPY no_such_table FROM STDIN`, chunksOf()), { code: '42P01' })
  assert.equal(await count(name), 0)
  assert.equal(await db.copyIn(statement, chunksOf()), 0)
})

test('a transaction goes on after copyIn and is rolled back with it', async () => {
  const name = await tableOf('a int')
  const copy = (tx: Queryable): Promise<number> => tx.copyIn(sql`COPY ${ident(name)} FROM STDIN`, chunksOf('1\n2\n'))
  await db.transaction(async (tx) => {
    assert.equal(await copy(tx), 2)
    await tx.query(sql`INSERT INTO ${ident(name)} VALUES (3)`)
  })
  const failing = db.transaction(async (tx) => {
    await copy(tx)
    await tx.copyIn(sql`COPY ${ident(name)} FROM STDIN`, chunksOf('x\n'))
  })
  await assert.rejects(failing, { code: '22P02' })
  assert.equal(await count(name), 3)
})

test('both databases have PostGIS', async () => {
  const [row] = await db.query(sql`SELECT ST_AsText(ST_Transform(ST_SetSRID(ST_MakePoint(0, 0), 4326), 3857)) AS wkt`)
  assert.deepEqual(row, { wkt: 'POINT(0 0)' })
})
