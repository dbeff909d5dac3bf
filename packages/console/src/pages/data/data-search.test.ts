import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listParams, readDataSearch } from './data-search.ts'

test('an address of the list is understood as far as it can be', () => {
  assert.deepEqual(readDataSearch({ q: 12, type: 'sql', tag: 'a', sort: '-bytes', add: 'file' }), {
    q: '12',
    type: 'sql',
    tag: 'a',
    sort: '-bytes',
    add: 'file',
  })
  assert.deepEqual(readDataSearch({ q: '', type: 'raster', sort: 'secrets', add: 'rm', other: 1 }), {})
})

test('the list is searched by the server in name, description and tags, with signs of patterns taken literally', () => {
  assert.deepEqual(listParams({ q: ' 50%_a ', type: 'table', tag: 'roads', sort: 'name' }), {
    filter: {
      type: 'table',
      $or: [
        { name: { $iLike: '%50\\%\\_a%' } },
        { description: { $iLike: '%50\\%\\_a%' } },
        { metadata: { $contains: { tags: ['50%_a'] } } },
      ],
    },
    tags: ['roads'],
    sort: ['name', 'id'],
  })
  assert.deepEqual(listParams({}), { sort: ['-updatedAt', 'id'] })
})
