import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dataset } from '@graticule/client'
import { consequencesOf } from './consequences.ts'
import { differences, draftOf, isChanged, patchOf, readMetadata, tagsOf, withKey } from './draft.ts'
import { mergePatchOf } from './merge-patch.ts'

const dataset: Dataset = {
  id: 'a',
  applicationId: 'b',
  createdAt: '',
  updatedAt: '',
  ownerId: null,
  type: 'rest',
  bytes: null,
  rowEstimate: null,
  overviews: null,
  rules: null,
  rulesFor: 'users',
  source: 'https://x.org',
  name: 'X',
  description: '',
  attributes: [],
  databaseId: 'd',
  metadata: { tags: ['one'], deep: { a: 1, b: 2 } },
}

test('a merge patch names what is new, what is other and, by null, what is gone', () => {
  assert.deepEqual(mergePatchOf({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { b: { c: 1, d: 3 }, e: [1], f: 'x' }), {
    a: null,
    b: { d: 3 },
    f: 'x',
  })
  assert.deepEqual(mergePatchOf({ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }), {})
  assert.deepEqual(mergePatchOf({ a: { b: 1 } }, { a: [1] }), { a: [1] })
})

test('only what has changed is saved', () => {
  const draft = draftOf(dataset)
  assert.equal(isChanged(dataset, draft), false)
  assert.equal(isChanged(dataset, { ...draft, metadata: '{"deep": {"b": 2, "a": 1}, "tags": ["one"]}' }), false)
  assert.deepEqual(patchOf(dataset, { ...draft, name: 'Y', metadata: withKey(draft.metadata, 'tags', undefined) }), {
    name: 'Y',
    metadata: { tags: null },
  })
  assert.deepEqual(patchOf(dataset, { ...draft, owner: '7', headers: [{ name: 'x-key', value: 's' }] }), {
    ownerId: '7',
    secrets: { headers: { 'x-key': 's' } },
  })
  assert.deepEqual(patchOf(dataset, { ...draft, headers: 'remove' }), { secrets: null })
  assert.throws(() => patchOf(dataset, { ...draft, metadata: '{' }), /not a JSON object/)
})

test('tags and attribution are parts of the metadata', () => {
  assert.deepEqual(tagsOf(readMetadata(withKey('{"a": 1}', 'tags', ['x', 'y']))), ['x', 'y'])
  assert.deepEqual(tagsOf({ tags: 'no list' }), [])
  assert.equal(withKey('{}', 'tags', ['x']), '{\n  "tags": ["x"]\n}')
  assert.equal(readMetadata('[]'), undefined)
})

test('another version is compared field by field', () => {
  const mine = { ...draftOf(dataset), name: 'Mine' }
  assert.deepEqual(
    differences(mine, { ...dataset, description: 'theirs', metadata: { deep: { b: 2, a: 1 }, tags: ['one'] } }),
    [
      { field: 'name', mine: 'Mine', theirs: 'X' },
      { field: 'description', mine: '', theirs: 'theirs' },
    ],
  )
})

test('what goes with a dataset is told before it is deleted', () => {
  assert.deepEqual(consequencesOf({ type: 'sql' }, 0, []), ['This cannot be undone.'])
  const [, tiles, styles, table] = consequencesOf({ type: 'table' }, 2, ['a', 'b', 'c', 'd', 'e', 'f'])
  assert.match(tiles ?? '', /^2 tile sources/)
  assert.equal(styles, '6 styles show it: a, b, c, d, e ….')
  assert.match(table ?? '', /table is deleted/)
})
