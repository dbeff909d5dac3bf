import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { patientMs, rowsOf, testDriver, testFolder } from '../testing/folder.ts'

describe('an answer', () => {
  test('that fails in a late row is an error, with the reason, and never a short answer', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    let rows = 0
    const text = `SELECT CASE WHEN range = 1500000 THEN 'x'::INTEGER ELSE 1 END AS n FROM range(2000000)`
    const read = async (): Promise<void> => {
      for await (const batch of database.select({ text, values: [] }, { timeoutMs: patientMs })) rows += batch.length
    }
    await assert.rejects(read(), {
      name: 'DuckdbFault',
      code: 'failed',
      message: /Could not convert string 'x' to INT32/,
    })
    assert.ok(rows > 0 && rows < 1_500_000, String(rows))
  })

  test('has every row once, in order, however many there are', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    let next = 0
    const text = 'SELECT range AS n FROM range(300000) ORDER BY n'
    for await (const batch of database.select({ text, values: [] }, { timeoutMs: patientMs })) {
      for (const [cell] of batch) assert.equal(cell, String(next++))
    }
    assert.equal(next, 300_000)
    assert.deepEqual(await rowsOf(database, 'SELECT 1 AS a WHERE false'), [])
  })

  test('ends with its marker whatever the query does and however its work is divided', async (t) => {
    const folder = testFolder(t)
    const rows = `SELECT range AS a, range % 100 AS b, ('POINT(' || range % 180 || ' 1)')::GEOMETRY AS g FROM range(100000)`
    await folder.write('t.parquet', rows, '(ROW_GROUP_SIZE 2048)')
    await folder.write('u.csv', 'SELECT range AS a FROM range(100000)')
    const database = testDriver(t, { threads: 4 }).at(folder)
    const counts = {
      'SELECT * FROM t': 100_000,
      'SELECT t.a FROM t JOIN u USING (a)': 100_000,
      'SELECT a FROM t WHERE b < 50': 50_000,
      'SELECT b, count(*) FROM t GROUP BY b': 100,
      'SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) FROM t': 100_000,
      'SELECT a FROM t UNION ALL SELECT a FROM u': 200_000,
      'SELECT DISTINCT b FROM t': 100,
      'SELECT a FROM t ORDER BY b, a LIMIT 70000': 70_000,
      'SELECT a FROM t LIMIT 3': 3,
      "SELECT a FROM t WHERE g && 'LINESTRING(0 0, 89.5 2)'::GEOMETRY": 50_040,
    }
    for (const [text, count] of [...Object.entries(counts), ...Object.entries(counts)]) {
      assert.equal((await rowsOf(database, text)).length, count, text)
    }
  })

  test('tells its columns before its rows, also where two have one name', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const query = { text: `SELECT 1 AS a, 'x' AS a, NULL AS n, '{"b": 1}'::JSON AS j`, values: [] }
    const { columns, batches } = await database.start(query, { timeoutMs: patientMs })
    assert.deepEqual(
      columns.map(({ name, type }) => `${name} ${type}`),
      ['a integer', 'a_1 string', 'n integer', 'j json'],
    )
    assert.deepEqual((await Array.fromAsync(batches)).flat(), [['1', 'x', null, '{"b": 1}']])
  })

  test('binds values and lists, and says when their number is wrong', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const text = 'SELECT range AS n FROM range(10) WHERE range = ANY($1::BIGINT[]) AND range > $2::BIGINT ORDER BY n'
    assert.deepEqual(await rowsOf(database, text, [['1', '3', '5'], '2']), [['3'], ['5']])
    await assert.rejects(rowsOf(database, text, ['1']), { code: 'refused', message: /has 2 parameters, but 1 values/ })
  })
})

describe('an answer in row blocks', () => {
  test('has WKB, one byte for a boolean, and the text of everything else', async (t) => {
    const folder = testFolder(t)
    const database = testDriver(t).at(folder)
    const text = `SELECT 'POINT(1 2)'::GEOMETRY AS g, true AS b, NULL::VARCHAR AS n, 'Ærø 😀' AS t, 1.5::DOUBLE AS d
      UNION ALL SELECT NULL, false, '', NULL, NULL`
    const { columns, batches } = await database.startBlocks({ text, values: [] }, { timeoutMs: patientMs })
    assert.deepEqual(
      columns.map(({ type }) => type),
      ['geometry', 'boolean', 'string', 'string', 'number'],
    )
    const cells = (await Array.fromAsync(batches)).flatMap(cellsOf)
    const [point, ...others] = cells
    assert.equal(point?.toString('hex'), '0101000000000000000000f03f0000000000000040')
    assert.deepEqual(
      others.map((cell) => cell?.toString() ?? null),
      ['\u0001', null, 'Ærø 😀', '1.5', null, '\u0000', '', null, null],
    )
  })

  test('has every row once and in order, and a late failure is an error', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const query = { text: `SELECT range AS n, 'row ' || range AS t FROM range(100000)`, values: [] }
    const { batches } = await database.startBlocks(query, { timeoutMs: patientMs })
    const cells = (await Array.fromAsync(batches)).flatMap(cellsOf)
    assert.equal(cells.length, 200_000)
    for (let row = 0; row < 100_000; row++) assert.equal(String(cells[2 * row]), String(row))
    const failing = `SELECT CASE WHEN range = 90000 THEN 'x'::INTEGER ELSE 1 END AS n FROM range(100000)`
    const started = await database.startBlocks({ text: failing, values: [] }, { timeoutMs: patientMs })
    await assert.rejects(Array.fromAsync(started.batches), { code: 'failed', message: /Could not convert string 'x'/ })
  })

  test('has a value that is larger than a block', async (t) => {
    const folder = testFolder(t)
    await folder.write('t.parquet', `SELECT 1 AS a, repeat('ä', 1000000) AS long, 2 AS b`)
    const { batches } = await testDriver(t)
      .at(folder)
      .startBlocks({ text: 'SELECT * FROM t', values: [] }, { timeoutMs: patientMs })
    const [a, long, b] = (await Array.fromAsync(batches)).flatMap(cellsOf)
    assert.deepEqual([String(a), long?.length, String(b)], ['1', 2_000_000, '2'])
  })
})

function cellsOf(block: Uint8Array): (Buffer | null)[] {
  const bytes = Buffer.from(block)
  const cells: (Buffer | null)[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    at += 4
    cells.push(length < 0 ? null : bytes.subarray(at, at + length))
    at += Math.max(0, length)
  }
  return cells
}
