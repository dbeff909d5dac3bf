import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { referencePages } from './reference-pages.ts'

test('docs/reference says what the types of the packages say (npm run generate writes it)', async () => {
  const pages = await referencePages()
  assert.ok(pages.size > 0)
  for (const [path, text] of pages) {
    assert.equal(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'), text, `${path} is stale`)
  }
})
