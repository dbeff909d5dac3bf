import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkHeader } from './link-header.ts'

const long = (rel: string, length: number) => ({ href: `/${rel}?a=${'x'.repeat(length)}`, rel })

test('the Link header has all links while they are short, and is absent without any', () => {
  const links = [
    { href: '/a', rel: 'self', type: 'application/json' },
    { href: '/b', rel: 'next' },
  ]
  assert.deepEqual(linkHeader(links), { link: '</a>; rel="self"; type="application/json", </b>; rel="next"' })
  assert.deepEqual(linkHeader([]), {})
})

test('links that do not fit into 12 KiB are left out, the next page last', () => {
  const relations = (length: number) =>
    [
      ...(linkHeader(['first', 'prev', 'next', 'last'].map((rel) => long(rel, length))).link ?? '').matchAll(
        /rel="(\w+)"/g,
      ),
    ].map(([, rel]) => rel)
  assert.deepEqual(relations(2_900), ['first', 'prev', 'next', 'last'])
  assert.deepEqual(relations(4_000), ['first', 'prev', 'next'])
  assert.deepEqual(relations(5_000), ['prev', 'next'])
  assert.deepEqual(relations(8_192), ['next'])
  assert.deepEqual(relations(20_000), [])
})
