import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allTestFiles, batchesOf, selectFiles } from './test-files.ts'

const [here, near] = ['scripts/test-run/test-files.test.ts', 'scripts/test-run/test-tiers.test.ts']
const all = [here, near]

test('a pattern that is a part of a path selects the files that have it, the others are names of tests', () => {
  assert.deepEqual(selectFiles([], all), { files: all, names: [] })
  assert.deepEqual(selectFiles(['test-tiers'], all), { files: [near], names: [] })
  const name = 'looks like a .* and is none'
  assert.deepEqual(selectFiles([name], all), { files: [here], names: [name] })
  assert.deepEqual(selectFiles(['test-files', name], all), { files: [here], names: [name] })
})

test('a name that no test of the chosen files has is refused before a file runs', () => {
  // Put together, because a text of this file is not the name of a test.
  const absent = ['cancelled', 'by', 'nobody'].join(' ')
  assert.throws(() => selectFiles([absent], all), /nor has the name of a test in 2 files/)
  assert.throws(() => selectFiles(['test-tiers', 'looks like a path'], all), /nor has the name of a test in 1 files/)
  assert.throws(() => selectFiles(['deepEqual'], all), /nor has the name of a test/)
  assert.throws(() => selectFiles(['('], all), /no regular expression/)
})

test('a pattern that looks like a path and is none is refused, and does not become the name of a test', () => {
  for (const pattern of ['server/src/tile/', 'tile-data.test.ts', 'stage.tsx']) {
    assert.throws(() => selectFiles([pattern], all), { message: `No test file has "${pattern}" in its path.` })
  }
})

test('batches hold every file once, and a file that looks at its own process is alone', () => {
  const files = allTestFiles()
  const batches = batchesOf(files, false)
  assert.deepEqual(batches.flat().toSorted(), files)
  assert.ok(batches.length < files.length / 2, `${batches.length} batches of ${files.length} files`)
  const batchOf = (name: string) => batches.find((batch) => batch.some((file) => file.endsWith(name)))
  for (const alone of ['reader-process/reader-process.test.ts', 'workers/detaching-map.test.ts']) {
    assert.equal(batchOf(alone)?.length, 1, alone)
  }
  // It only asks for a variable of the environment.
  assert.notEqual(batchOf('tiles/fair-tiles.test.ts')?.length, 1)
})
