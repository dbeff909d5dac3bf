import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stays, until } from '../../../../testing/until.ts'
import { createReaders } from './reader-process.ts'

test('what the process has compiled is kept for the next one, though it is killed', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-reader-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const cache = join(directory, 'cache')
  const file = join(directory, 'places.csv')
  await writeFile(file, 'name,lon,lat\nBern,7.4,46.9\n')
  const reader = createReaders(cache, { stalled: 60_000 }).take(new AbortController().signal)
  await reader.open(file, { fileName: 'places.csv', directory, allowNativeGdal: false })
  await reader.end()
  const kept = await readdir(cache, { recursive: true, withFileTypes: true })
  assert.ok(kept.filter((entry) => entry.isFile()).length > 5, `${kept.length} kept`)
})

const children = async (): Promise<string[]> =>
  (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean)

test('a process that was started before it is needed reads the next file; one that nobody needs ends', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-reader-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'places.csv')
  await writeFile(file, 'name,lon,lat\nBern,7.4,46.9\n')
  const readers = createReaders(join(directory, 'cache'), { stalled: 60_000, spare: 2_000 })
  const before = await children()
  readers.prepare()
  readers.prepare()
  const [started, ...others] = (await children()).filter((pid) => !before.includes(pid))
  assert.ok(started)
  assert.deepEqual(others, [])
  const controller = new AbortController()
  const reader = readers.take(controller.signal)
  const opened = await reader.open(file, { fileName: 'places.csv', directory, allowNativeGdal: false })
  assert.deepEqual(opened, { format: 'csv', layers: ['places'], bytes: 27 })
  assert.deepEqual(
    (await children()).filter((pid) => !before.includes(pid)),
    [started],
  )
  // One in use is not ended for having waited.
  await stays(async () => (await children()).includes(started), 3_000)
  controller.abort()
  await reader.ended
  assert.deepEqual(await children(), before)
  readers.prepare()
  assert.equal((await children()).length, before.length + 1)
  await until(async () => (await children()).length <= before.length)
  readers.prepare()
  await readers.close()
  assert.deepEqual(await children(), before)
})
