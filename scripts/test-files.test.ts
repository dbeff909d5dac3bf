import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectFiles } from './test-files.ts'

const all = ['packages/server/src/tiles/tiles.test.ts', 'packages/server/src/uploads/upload.test.ts']

test('a pattern that is a part of a path selects the files that have it, the others are names of tests', () => {
  assert.deepEqual(selectFiles([], all), { files: all, names: [] })
  assert.deepEqual(selectFiles(['uploads/', 'cancelled'], all), { files: [all[1]], names: ['cancelled'] })
})

test('a pattern that looks like a path and is none is refused, and does not become the name of a test', () => {
  for (const pattern of ['server/src/tile/', 'tile-data.test.ts', 'stage.tsx']) {
    assert.throws(() => selectFiles([pattern], all), { message: `No test file has "${pattern}" in its path.` })
  }
})
