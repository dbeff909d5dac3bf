import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../../../../testing/until.ts'
import { type GdalTask, ReadFault } from '../readers/reader.ts'
import { createGdalPool, type GdalPool } from './gdal-pool.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-gdal-pool-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const gml = (name: string): string =>
  `<FeatureCollection xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><town><name>${name}</name><g><gml:Point srsName="EPSG:4326"><gml:coordinates>8,47</gml:coordinates></gml:Point></g></town></gml:featureMember></FeatureCollection>`

/** Converts the text; answers the GeoPackage, and which process made it. */
async function convert(pool: GdalPool, text: string, options: Partial<GdalTask> = {}) {
  const own = await mkdtemp(join(directory, 'job-'))
  const [sourceDirectory, resultDirectory] = [join(own, 'source'), join(own, 'result')]
  await mkdir(sourceDirectory)
  await mkdir(resultDirectory)
  const source = join(sourceDirectory, 'source.gml')
  await writeFile(source, text)
  let pid = 0
  const { signal } = new AbortController()
  const onStarted = (started: number): void => {
    pid = started
  }
  const facts = { source, sourceDirectory, resultDirectory, driver: 'GML', bytes: text.length, keepsIds: false }
  await pool.convert({ ...facts, signal, onStarted, ...options })
  return { result: await readFile(join(resultDirectory, 'result.gpkg'), 'latin1'), pid }
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

/** The processes that were started to read this directory. */
async function processesOf(place: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const command = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : ''
    if (command.includes(place)) found.push(Number(name))
  }
  return found
}

test('a pool that was never asked has no process and no directory', async () => {
  const place = join(directory, 'never')
  const pool = createGdalPool(place)
  assert.deepEqual(await processesOf(place), [])
  await pool.close()
  assert.equal(existsSync(place), false)
})

test('each file has a process of its own, which was started before for the second, and nothing is left', async () => {
  const place = join(directory, 'twice')
  const pool = createGdalPool(place)
  const first = await convert(pool, gml('Bern'))
  assert.ok(first.result.includes('Bern'))
  assert.equal(isRunning(first.pid), false)
  await until(async () => (await processesOf(place)).length === 1)
  const [spare] = await processesOf(place)
  const second = await convert(pool, gml('Basel'))
  assert.ok(second.result.includes('Basel') && !second.result.includes('Bern'))
  assert.equal(second.pid, spare)
  assert.equal(isRunning(second.pid), false)
  await pool.close()
  assert.deepEqual(await processesOf(place), [])
  assert.deepEqual(await readdir(place), [])
})

test('a process that is not needed for long ends, and the next file starts another', async () => {
  const place = join(directory, 'idle')
  const pool = createGdalPool(place, 1)
  await convert(pool, gml('Bern'))
  await until(async () => (await processesOf(place)).length === 0 && (await readdir(place)).length === 0)
  assert.ok((await convert(pool, gml('Basel'))).result.includes('Basel'))
  await pool.close()
})

test('after a file that GDAL does not read, or that was cancelled, the next one is read', async () => {
  const pool = createGdalPool(join(directory, 'faults'))
  await assert.rejects(convert(pool, 'no GML at all'), (error) => error instanceof ReadFault)
  const controller = new AbortController()
  let pid = 0
  const onStarted = (started: number): void => {
    pid = started
    controller.abort()
  }
  await assert.rejects(convert(pool, gml('Chur'), { signal: controller.signal, onStarted }), { name: 'AbortError' })
  assert.equal(isRunning(pid), false)
  assert.ok((await convert(pool, gml('Basel'))).result.includes('Basel'))
  await pool.close()
})

test('a spare that has died is not used', async () => {
  const place = join(directory, 'dead')
  const pool = createGdalPool(place)
  await convert(pool, gml('Bern'))
  await until(async () => (await processesOf(place)).length === 1)
  const [spare = 0] = await processesOf(place)
  process.kill(spare, 'SIGKILL')
  await until(async () => (await readdir(place)).length === 0)
  assert.ok((await convert(pool, gml('Basel'))).result.includes('Basel'))
  await pool.close()
})
