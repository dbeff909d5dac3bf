import assert from 'node:assert/strict'
import {
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { describe, test } from 'node:test'
import { patientMs, rowsOf, type TestFolder, testDriver, testFolder } from '../testing/folder.ts'
import type { DuckdbDatabase } from './create-duckdb.ts'

const options = { timeoutMs: patientMs }
const namesOf = async (database: DuckdbDatabase): Promise<string[]> =>
  (await database.tables(options)).tables.map(({ name }) => name)

describe('a folder that changes', () => {
  test('is seen as it is: files that are added, replaced, given other columns or removed', async (t) => {
    const folder = testFolder(t)
    await folder.write('a.parquet', 'SELECT 1 AS x')
    await folder.write('d.csv', 'SELECT 1 AS x')
    await folder.run(`ATTACH '{path}/e.duckdb' AS e`, 'CREATE TABLE e.t AS SELECT 1 AS x')
    const database = testDriver(t).at(folder)
    assert.deepEqual(await rowsOf(database, 'SELECT a.x, d.x, e_t.x FROM a, d, e_t'), [['1', '1', '1']])
    // By rename, as a writer should.
    await folder.write('new.tmp', `SELECT 2 AS x, 'more' AS y`, '(FORMAT parquet)')
    renameSync(folder.path('new.tmp'), folder.path('a.parquet'))
    await folder.write('d.csv', `SELECT 3 AS x`)
    await folder.run(`ATTACH '{path}/other' AS e`, 'CREATE TABLE e.t AS SELECT 4 AS x')
    renameSync(folder.path('other'), folder.path('e.duckdb'))
    assert.deepEqual(await rowsOf(database, 'SELECT a.x, a.y, d.x, e_t.x FROM a, d, e_t'), [['2', 'more', '3', '4']])
    await folder.write('b.json', 'SELECT 5 AS z')
    assert.deepEqual(await namesOf(database), ['a', 'b', 'd', 'e_t'])
    rmSync(folder.path('d.csv'))
    assert.deepEqual(await namesOf(database), ['a', 'b', 'e_t'])
    await assert.rejects(rowsOf(database, 'SELECT * FROM d'), { code: 'refused' })
  })

  test('does not disturb an answer that is being read, when a file is replaced by rename', async (t) => {
    const folder = testFolder(t)
    await folder.write('a.parquet', 'SELECT range AS x FROM range(300000)')
    const database = testDriver(t).at(folder)
    const { batches } = await database.start({ text: 'SELECT x FROM a', values: [] }, options)
    const iterator = batches[Symbol.asyncIterator]()
    let rows = (await iterator.next()).value?.length ?? 0
    await folder.write('new.tmp', 'SELECT 1 AS x', '(FORMAT parquet)')
    renameSync(folder.path('new.tmp'), folder.path('a.parquet'))
    assert.deepEqual(await rowsOf(database, 'SELECT x FROM a'), [['1']])
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) rows += next.value.length
    assert.equal(rows, 300_000)
  })

  test('makes an answer an error when a file is cut while it is read', async (t) => {
    const folder = testFolder(t)
    await folder.write('a.csv', `SELECT range AS x, 'some text that takes room' AS y FROM range(3000000)`)
    const database = testDriver(t).at(folder)
    const { batches } = await database.start({ text: 'SELECT x, y FROM a', values: [] }, options)
    let rows = 0
    let failed: unknown
    try {
      for await (const batch of batches) {
        if (rows === 0) truncateSync(folder.path('a.csv'), 1_000)
        rows += batch.length
      }
    } catch (error) {
      failed = error
    }
    // CSV has no end that could be missed, so the rows before the cut are an answer too; the next query sees the new file.
    assert.ok(failed || rows < 3_000_000)
    assert.ok((await rowsOf(database, 'SELECT x FROM a')).length < 100)
  })
})

/** A Parquet file that DuckDB's instance dies of when it is read, and one of the same size that it does not die of. */
async function deadlyFiles(folder: TestFolder): Promise<{ good: Buffer; bad: Buffer }> {
  const key = JSON.stringify({
    version: '1.1.0',
    primary_column: 'g',
    columns: { g: { encoding: 'WKB', geometry_types: [] } },
  })
  const files: Buffer[] = []
  for (const name of ['gex', 'geo']) {
    await folder.write(
      name,
      `SELECT 'POINT(1 2)' AS g, range AS a FROM range(10)`,
      `(FORMAT parquet, KV_METADATA {${name}: '${key}'})`,
    )
    files.push(readFileSync(folder.path(name)))
    rmSync(folder.path(name))
  }
  const [good = Buffer.alloc(0), bad = Buffer.alloc(0)] = files
  assert.equal(good.length, bad.length)
  return { good, bad }
}

test('an error that breaks DuckDB ends that process alone, and the next query is answered by another', async (t) => {
  const folder = testFolder(t)
  const other = testFolder(t)
  const { good, bad } = await deadlyFiles(folder)
  writeFileSync(folder.path('a.parquet'), good)
  await folder.write('b.csv', 'SELECT 1 AS x')
  await other.write('c.csv', 'SELECT 2 AS x')
  const driver = testDriver(t)
  const [mine, theirs] = [driver.at(folder, 'one'), driver.at(other, 'two')]
  assert.deepEqual(await rowsOf(mine, 'SELECT a FROM a LIMIT 1'), [['0']])
  assert.deepEqual(await rowsOf(theirs, 'SELECT x FROM c'), [['2']])
  // In place, with the old time: nothing tells that it is another file.
  const { atime, mtime } = statSync(folder.path('a.parquet'))
  writeFileSync(folder.path('a.parquet'), bad)
  utimesSync(folder.path('a.parquet'), atime, mtime)
  await assert.rejects(rowsOf(mine, 'SELECT g FROM a'), {
    code: 'ended',
    message: 'DuckDB failed on this query or file, and its process was ended.',
  })
  assert.deepEqual(await rowsOf(mine, 'SELECT x FROM b'), [['1']])
  assert.deepEqual(await rowsOf(theirs, 'SELECT x FROM c'), [['2']])
  assert.match(String(driver.errors), /INTERNAL Error: Vector::Reference used on vector of different type/)
  const { refused } = await mine.tables(options)
  assert.deepEqual(refused, [
    { file: 'a.parquet', reason: 'GeoParquet metadata: the column "g" is called WKB but holds no bytes.' },
  ])
})

test('Parquet files with damaged bytes are errors, never the end of a process or a silent loss of rows', async (t) => {
  const folder = testFolder(t)
  await folder.write(
    'good.parquet',
    `SELECT range AS a, 'text ' || range AS b FROM range(20000)`,
    '(ROW_GROUP_SIZE 2048)',
  )
  const driver = testDriver(t)
  const database = driver.at(folder)
  const bytes = readFileSync(folder.path('good.parquet'))
  for (let seed = 1; seed <= 40; seed++) {
    const damaged = Buffer.from(bytes)
    for (let index = 0; index < 8; index++) {
      const place = Number((BigInt(seed * 7919 + index * 104_729) * 2_654_435_761n) % BigInt(bytes.length))
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (seed % 8))
    }
    const cut = seed % 5 === 0 ? damaged.subarray(0, Math.floor((bytes.length * seed) / 41)) : damaged
    writeFileSync(folder.path('bad.parquet'), cut)
    const read = rowsOf(database, 'SELECT a, b FROM bad')
    await read.then(
      (rows) => assert.equal(rows.length, 20_000),
      ({ code }) => assert.ok(code === 'failed' || code === 'refused' || code === 'memory', code),
    )
  }
  assert.deepEqual(driver.errors, [])
  assert.equal((await rowsOf(database, 'SELECT a FROM good')).length, 20_000)
})

test('a file that ends the process twice while it is looked at is left alone until it changes', async (t) => {
  const folder = testFolder(t)
  await folder.write('b.csv', 'SELECT 1 AS x')
  copyFileSync(folder.path('b.csv'), folder.path('a.csv'))
  const { createProcessPool } = await import('./process-pool.ts')
  const deaths: string[] = []
  const pool = createProcessPool({
    temporaryDirectory: testFolder(t).directory,
    memoryMb: 512,
    threads: 1,
    graceMs: 1_000,
    maxProcesses: 1,
    idleMs: 60_000,
    onError: (error) => deaths.push(String(error)),
    start: (processOptions) => ({
      // Dies of the first file, unless it is told to leave it alone.
      begin(database) {
        const isLeft = database.quarantined.length > 0
        if (!isLeft) processOptions.onFatalFile(`${folder.path('a.csv')}\nfingerprint`)
        return { answer: async () => database.quarantined } as never
      },
      running: 0,
      isEnded: true,
      end: async () => undefined,
    }),
  })
  t.after(() => pool.close())
  const ask = () => pool.begin('t', { id: 'a', directory: folder.directory }, { kind: 'tables' }, {}).answer()
  assert.deepEqual(await ask(), [])
  assert.deepEqual(await ask(), [])
  assert.deepEqual(await ask(), [`${folder.path('a.csv')}\nfingerprint`])
  // Another folder is told nothing of it.
  const elsewhere = pool.begin('t', { id: 'b', directory: `${folder.directory}2` }, { kind: 'tables' }, {})
  assert.deepEqual(await elsewhere.answer(), [])
})
