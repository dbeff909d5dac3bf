import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startReader } from './reader-process.ts'

test('what the process has compiled is kept for the next one, though it is killed', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-reader-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const cache = join(directory, 'cache')
  const file = join(directory, 'places.csv')
  await writeFile(file, 'name,lon,lat\nBern,7.4,46.9\n')
  const reader = startReader(new AbortController().signal, cache)
  await reader.open(file, { fileName: 'places.csv', directory, allowNativeGdal: false })
  await reader.end()
  const kept = await readdir(cache, { recursive: true, withFileTypes: true })
  assert.ok(kept.filter((entry) => entry.isFile()).length > 5, `${kept.length} kept`)
})
