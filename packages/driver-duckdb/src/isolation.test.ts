import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '../../server/testing/until.ts'
import { patientMs, rowsOf, type TestDriver, testDriver, testFolder } from '../testing/folder.ts'
import { endless, stubborn } from '../testing/queries.ts'
import { createDuckdb } from './create-duckdb.ts'
import { spawnChild } from './spawn-child.ts'

const processes = ({ temporaryDirectory }: TestDriver): string[] => readdirSync(temporaryDirectory)

describe('tenants', () => {
  test('have a process each: one that is ended by force does not disturb the query of another', async (t) => {
    const driver = testDriver(t)
    const folders = [testFolder(t), testFolder(t)] as const
    for (const folder of folders) await folder.write('t.parquet', 'SELECT range AS a FROM range(400000)')
    const [hostile, quiet] = [driver.at(folders[0], 'hostile'), driver.at(folders[1], 'quiet')]
    const { batches } = await quiet.start({ text: 'SELECT a FROM t ORDER BY a', values: [] }, { timeoutMs: patientMs })
    const iterator = batches[Symbol.asyncIterator]()
    let rows = (await iterator.next()).value?.length ?? 0
    await rowsOf(hostile, 'SELECT 1')
    assert.equal(processes(driver).length, 2)
    const stopped = Array.fromAsync(hostile.select({ text: stubborn, values: [] }, { timeoutMs: 200 }))
    await assert.rejects(stopped, { code: 'timeout' })
    await until(() => processes(driver).length <= 1)
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) rows += next.value.length
    assert.equal(rows, 400_000)
  })

  test('see no table of each other', async (t) => {
    const driver = testDriver(t)
    const folders = [testFolder(t), testFolder(t)] as const
    await folders[0].write('mine.csv', 'SELECT 1 AS a')
    await folders[1].write('theirs.csv', 'SELECT 2 AS a')
    const mine = driver.at(folders[0], 'one')
    const theirs = driver.at(folders[1], 'two')
    assert.deepEqual(await rowsOf(theirs, 'SELECT a FROM theirs'), [['2']])
    await assert.rejects(rowsOf(mine, 'SELECT a FROM theirs'), {
      code: 'refused',
      message: /"theirs", which is not in/,
    })
    await assert.rejects(rowsOf(theirs, 'SELECT a FROM mine'), { code: 'refused' })
  })

  test('have databases that see no table of each other either', async (t) => {
    const driver = testDriver(t)
    const folders = [testFolder(t), testFolder(t)] as const
    await folders[0].write('a.csv', 'SELECT 1 AS a')
    await folders[1].write('b.csv', 'SELECT 2 AS a')
    assert.deepEqual(await rowsOf(driver.at(folders[0]), 'SELECT a FROM a'), [['1']])
    assert.deepEqual(await rowsOf(driver.at(folders[1]), 'SELECT a FROM b'), [['2']])
    assert.equal(processes(driver).length, 1)
    await assert.rejects(rowsOf(driver.at(folders[0]), 'SELECT a FROM b'), { code: 'refused' })
  })

  test('beyond the limit wait for no one: an idle process makes room, a busy one does not', async (t) => {
    const driver = testDriver(t, { maxProcesses: 1 })
    const folder = testFolder(t)
    assert.deepEqual(await rowsOf(driver.at(folder, 'one'), 'SELECT 1'), [['1']])
    assert.deepEqual(await rowsOf(driver.at(folder, 'two'), 'SELECT 2'), [['2']])
    const controller = new AbortController()
    const options = { timeoutMs: patientMs, signal: controller.signal }
    const busy = Array.fromAsync(driver.at(folder, 'two').select({ text: endless, values: [] }, options))
    await assert.rejects(rowsOf(driver.at(folder, 'one'), 'SELECT 1'), {
      code: 'busy',
      message: /^1 applications already/,
    })
    controller.abort(new Error('enough'))
    await assert.rejects(busy, /enough/)
  })
})

describe('a process', () => {
  test('has no variable of the server’s, no rights and no network', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    process.env.SECRET_OF_THE_SERVER = 'secret'
    t.after(() => delete process.env.SECRET_OF_THE_SERVER)
    const directory = mkdtempSync(join(testFolder(t).directory, 'a'))
    const child = spawnChild({ directory, memoryMb: 700, threads: 1 })
    t.after(() => child.kill('SIGKILL'))
    await new Promise((resolve, reject) => child.once('message', resolve).once('exit', reject))
    const read = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8')
    assert.doesNotMatch(read('environ'), /SECRET/)
    assert.match(read('limits'), new RegExp(`Max data size +${(768 + 700) * 1024 ** 2} `))
    assert.match(read('limits'), /Max core file size +0 /)
    assert.match(read('status'), /NoNewPrivs:\t1/)
    assert.match(read('status'), /CapEff:\t0000000000000000/)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // The server is gone.
    child.disconnect()
    await ended
  })

  test('ends when it has nothing to do, with its temporary files', async (t) => {
    const driver = testDriver(t, { idleMs: 1 })
    const folder = testFolder(t)
    assert.deepEqual(await rowsOf(driver.at(folder), 'SELECT 1'), [['1']])
    await until(() => processes(driver).length === 0)
    assert.deepEqual(await rowsOf(driver.at(folder), 'SELECT 2'), [['2']])
    assert.deepEqual(driver.errors, [])
  })

  test('that died by itself is told to the log, and the next query starts another', async (t) => {
    const driver = testDriver(t)
    const database = driver.at(testFolder(t))
    const running = Array.fromAsync(database.select({ text: endless, values: [] }, { timeoutMs: patientMs }))
    running.catch(() => undefined)
    await rowsOf(database, 'SELECT 1')
    process.kill(pidWith(driver), 'SIGSEGV')
    await assert.rejects(running, { code: 'ended', message: /^The process that reads these files ended/ })
    assert.deepEqual(await rowsOf(database, 'SELECT 2'), [['2']])
    assert.match(String(driver.errors[0]), /A DuckDB process ended \(SIGSEGV\)/)
  })

  test('leaves no folder behind, also of a server that was ended by force', async (t) => {
    const { directory } = testFolder(t)
    mkdirSync(join(directory, 'duckdb-999999999-gone'))
    mkdirSync(join(directory, 'others'))
    const driver = createDuckdb({ temporaryDirectory: directory, onError: () => undefined })
    assert.deepEqual(readdirSync(directory), ['others'])
    const database = driver.open({ tenant: 'a', id: 'b', directory })
    await database.tables({ timeoutMs: patientMs })
    assert.equal(readdirSync(directory).length, 2)
    await driver.close()
    assert.deepEqual(readdirSync(directory), ['others'])
    await assert.rejects(database.tables(), { code: 'ended' })
  })
})

/** The process whose working directory is the one that the driver made. */
function pidWith(driver: TestDriver): number {
  const [name = ''] = processes(driver)
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  const found = pids.find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(driver.temporaryDirectory, name))
    } catch {
      return false
    }
  })
  return Number(found)
}
