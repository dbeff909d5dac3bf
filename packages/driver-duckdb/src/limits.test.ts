import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { until } from '../../server/testing/until.ts'
import { patientMs, rowsOf, type TestDriver, testDriver, testFolder } from '../testing/folder.ts'
import { endless, longText, memoryBombs, stubborn } from '../testing/queries.ts'
import type { DuckdbDatabase } from './create-duckdb.ts'

const read = (database: DuckdbDatabase, text: string, options: { timeoutMs: number; signal?: AbortSignal }) =>
  Array.fromAsync(database.select({ text, values: [] }, options))

/** The processes that run: each has a folder of its own. */
const processes = ({ temporaryDirectory }: TestDriver): string[] => readdirSync(temporaryDirectory)

describe('a query that takes too long', () => {
  test('is interrupted at its time, and its process goes on', async (t) => {
    const driver = testDriver(t, { graceMs: patientMs })
    const database = driver.at(testFolder(t))
    assert.deepEqual(await rowsOf(database, 'SELECT 1'), [['1']])
    const before = processes(driver)
    await assert.rejects(read(database, endless, { timeoutMs: 1_000 }), {
      code: 'timeout',
      message: 'The query took longer than 1 s and was stopped.',
    })
    assert.deepEqual(await rowsOf(database, 'SELECT 2'), [['2']])
    assert.deepEqual(processes(driver), before)
    assert.deepEqual(driver.errors, [])
  })

  test('and does not heed the interrupt is ended with its process, and the next query starts another', async (t) => {
    const driver = testDriver(t)
    const database = driver.at(testFolder(t))
    assert.deepEqual(await rowsOf(database, 'SELECT 1'), [['1']])
    const [before] = processes(driver)
    const other = read(database, endless, { timeoutMs: patientMs })
    await Promise.all([
      assert.rejects(read(database, stubborn, { timeoutMs: 500 }), { code: 'timeout' }),
      assert.rejects(other, { code: 'ended', message: /^Another query of this application could only be stopped/ }),
    ])
    assert.deepEqual(await rowsOf(database, 'SELECT 2'), [['2']])
    assert.ok(before && !processes(driver).includes(before))
  })

  test('is stopped by its signal, with the signal’s reason', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const controller = new AbortController()
    const reading = read(database, endless, { timeoutMs: patientMs, signal: controller.signal })
    const reason = new Error('gone')
    setImmediate(() => controller.abort(reason))
    await assert.rejects(reading, reason)
    await assert.rejects(read(database, 'SELECT 1', { timeoutMs: 1, signal: controller.signal }), reason)
    assert.deepEqual(await rowsOf(database, 'SELECT 2'), [['2']])
  })

  test('counts no time in which its rows are not read', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    await rowsOf(database, 'SELECT 1')
    const timeoutMs = 5_000
    let rows = 0
    const query = { text: 'SELECT range AS n FROM range(100000)', values: [] }
    for await (const batch of database.select(query, { timeoutMs })) {
      if (rows === 0) await new Promise((resolve) => setTimeout(resolve, timeoutMs + 500))
      rows += batch.length
    }
    assert.equal(rows, 100_000)
  })
})

describe('an answer that is left', () => {
  test('before its end leaves nothing running', async (t) => {
    const driver = testDriver(t, { idleMs: 1 })
    const database = driver.at(testFolder(t))
    for await (const batch of database.select(
      { text: 'FROM range(1000000000)', values: [] },
      { timeoutMs: patientMs },
    )) {
      assert.equal(batch[0]?.[0], '0')
      break
    }
    // A process without work ends at once here; one that still ran something would not.
    await until(() => processes(driver).length === 0)
  })

  test('before its first row leaves nothing running either', async (t) => {
    const driver = testDriver(t, { idleMs: 1 })
    const database = driver.at(testFolder(t))
    const { batches } = await database.start({ text: 'FROM range(1000000000)', values: [] }, { timeoutMs: patientMs })
    await batches[Symbol.asyncIterator]().return?.()
    await until(() => processes(driver).length === 0)
  })

  test('unread keeps a few batches in memory, not all of it', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const text = 'SELECT range AS n FROM range(100000000)'
    const { batches } = await database.start({ text, values: [] }, { timeoutMs: patientMs })
    const iterator = batches[Symbol.asyncIterator]()
    await iterator.next()
    // Another query is answered meanwhile.
    assert.deepEqual(await rowsOf(database, 'SELECT count(*) FROM range(1000)'), [['1000']])
    assert.ok(process.memoryUsage().rss < 1024 ** 3)
    await iterator.return?.()
  })
})

test('queries that need more memory than there is fail alone, and the next query is answered by a new process', async (t) => {
  const driver = testDriver(t, { memoryMb: 512 })
  const folder = testFolder(t)
  const database = driver.at(folder)
  for (const text of memoryBombs) {
    await rowsOf(database, 'SELECT 1')
    const before = processes(driver)
    await assert.rejects(
      read(database, text, { timeoutMs: patientMs }),
      ({ code }: { code: string }) => code === 'memory' || code === 'ended',
      text,
    )
    assert.deepEqual(await rowsOf(database, 'SELECT 1'), [['1']])
    assert.ok(processes(driver).some((name) => !before.includes(name)))
  }
})

test('a query that needs more memory than there is does not end those that run beside it', async (t) => {
  const driver = testDriver(t)
  const database = driver.at(testFolder(t))
  const { batches } = await database.start({ text: 'FROM range(1000000)', values: [] }, { timeoutMs: patientMs })
  await assert.rejects(read(database, longText(26), { timeoutMs: patientMs }), { code: 'memory' })
  assert.equal((await Array.fromAsync(batches)).flat().length, 1_000_000)
  const [before] = processes(driver)
  assert.deepEqual(await rowsOf(database, 'SELECT 1'), [['1']])
  assert.ok(processes(driver).some((name) => name !== before))
})

test('twenty queries at once are answered, each with its own rows', async (t) => {
  const folder = testFolder(t)
  await folder.write('t.parquet', 'SELECT range AS a FROM range(50000)')
  const database = testDriver(t).at(folder)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      rowsOf(database, 'SELECT a FROM t WHERE a % 20 = $1::BIGINT ORDER BY a', [String(index)]),
    ),
  )
  for (const [index, rows] of answers.entries()) {
    assert.equal(rows.length, 2_500)
    assert.deepEqual(rows[1], [String(index + 20)])
  }
})

test('more queries than a process may run at once are refused in words', async (t) => {
  const database = testDriver(t).at(testFolder(t))
  const controller = new AbortController()
  const { signal } = controller
  const running = Array.from({ length: 32 }, () => read(database, endless, { timeoutMs: patientMs, signal }))
  await assert.rejects(rowsOf(database, 'SELECT 1'), { code: 'busy', message: /already runs 32 queries/ })
  controller.abort(new Error('enough'))
  for (const each of running) await assert.rejects(each, /enough/)
})
