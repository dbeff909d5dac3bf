import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageLinks } from './page-links.ts'

const relations = (links: Record<string, string>): string[] =>
  Array.from(links.link?.matchAll(/rel="(\w+)"/g) ?? [], ([, relation = '']) => relation)

test('no link leads to a page whose offset would be refused', () => {
  const url = '/api/v1/styles'
  const page = (offset: number, next?: string | null) =>
    relations(pageLinks(url, { limit: 10, offset }, 5_000_000, next))
  assert.deepEqual(page(0), ['first', 'next'])
  assert.deepEqual(page(999_990), ['first', 'prev', 'next'])
  assert.deepEqual(page(1_000_000), ['first', 'prev'])
  assert.deepEqual(page(2_000_000, '/api/v1/styles?cursor=a'), ['first', 'next'])
})
