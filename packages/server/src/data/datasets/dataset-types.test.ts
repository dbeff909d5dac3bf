import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { datasetTypeNames } from './dataset-types.ts'

test('the documentation lists every dataset type and no other', async () => {
  const text = await readFile(new URL('../../../../../docs/concepts.md', import.meta.url), 'utf8')
  const [, section = ''] = text.split('## Datasets\n')
  const [table = ''] = section.split('\n\n')
  assert.deepEqual(
    [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name),
    datasetTypeNames,
  )
})
