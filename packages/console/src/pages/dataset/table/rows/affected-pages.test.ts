import assert from 'node:assert/strict'
import { test } from 'node:test'
import { affectedPages, changeOf, mergeChanges, type TableChange } from './affected-pages.ts'

type Row = { id: number | string }

/** Pages of ten rows with the ids 0, 2, 4 and so on; the last one is not full. */
const pages = new Map<number, Row[]>(
  [0, 1, 2, 5].map((index) => [
    index,
    Array.from({ length: index === 5 ? 4 : 10 }, (_, at) => ({ id: (index * 10 + at) * 2 })),
  ]),
)
const byKey = { isByKey: true, isFiltered: false, pageRows: 10, idOf: (row: Row | undefined) => row?.id }

function affected(operations: string[], keys: TableChange['keys'], order: Partial<typeof byKey> = {}) {
  const change = { operations: new Set(operations), keys } as TableChange
  const { isStale, movedFrom, mayChangeTotal } = affectedPages(change, pages, { ...byKey, ...order })
  return { stale: [0, 1, 2, 5].filter(isStale), movedFrom, mayChangeTotal }
}

test('an update concerns the pages that have its rows, and no others', () => {
  assert.deepEqual(affected(['update'], [22, 3_000]), { stale: [1], movedFrom: null, mayChangeTotal: false })
  assert.deepEqual(affected(['update'], [3_000]), { stale: [], movedFrom: null, mayChangeTotal: false })
})

test('an update that gives a row a key between those of a page concerns all from there on', () => {
  assert.deepEqual(affected(['update'], [3_000, 21]), { stale: [1, 2, 5], movedFrom: 1, mayChangeTotal: false })
})

test('rows that come or go concern their page and all behind it', () => {
  assert.deepEqual(affected(['insert'], [21]), { stale: [1, 2, 5], movedFrom: 1, mayChangeTotal: true })
  assert.deepEqual(affected(['delete'], [42, 40]), { stale: [2, 5], movedFrom: 2, mayChangeTotal: true })
  assert.deepEqual(affected(['insert'], [-1]), { stale: [0, 1, 2, 5], movedFrom: 0, mayChangeTotal: true })
})

test('a row at the end of a table concerns the last page alone, or none that is loaded', () => {
  assert.deepEqual(affected(['insert'], [9_000]).stale, [5])
  const full = new Map([...pages].filter(([index]) => index < 5))
  const change: TableChange = { operations: new Set(['insert']), keys: [9_000] }
  const { isStale, mayChangeTotal } = affectedPages(change, full, byKey)
  assert.deepEqual([[0, 1, 2].filter(isStale), mayChangeTotal], [[], true])
})

test('everything is concerned where the order or the filter depends on other values, or the keys are not known', () => {
  const all = { stale: [0, 1, 2, 5], movedFrom: 0 }
  assert.deepEqual(affected(['update'], [22], { isByKey: false }), { ...all, mayChangeTotal: false })
  assert.deepEqual(affected(['update'], [22], { isByKey: false, isFiltered: true }), { ...all, mayChangeTotal: true })
  assert.deepEqual(affected(['insert'], null), { ...all, mayChangeTotal: true })
  assert.deepEqual(affected(['insert'], ['text']), { ...all, mayChangeTotal: true })
})

test('events become changes, of which two are one', () => {
  const change = { type: 'change', id: 'a', version: '1', rows: 1, boxes: null } as const
  const one = changeOf({ ...change, operations: ['insert'], keys: [1, '9007199254740993'] })
  const other = changeOf({ ...change, operations: ['update'], keys: [[2, 'b']] })
  assert.ok(one && other)
  assert.deepEqual(mergeChanges(one, other), {
    operations: new Set(['insert', 'update']),
    keys: [1, '9007199254740993', '[2,"b"]'],
  })
  assert.equal(changeOf({ type: 'ready', resumed: true }), null)
  for (const event of [{ type: 'ready', resumed: false } as const, { type: 'reset', id: 'a', reason: '' } as const])
    assert.equal(changeOf(event)?.keys, null)
})
