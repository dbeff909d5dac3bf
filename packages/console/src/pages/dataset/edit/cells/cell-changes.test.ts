import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../../dataset.ts'
import { type CellChange, filterOf, requestsOf, rowRequests, undone } from './cell-change.ts'
import { isInlineColumn, isInlineValue, readInline, typedDraft } from './inline-cell.ts'
import { maxPastedRows, pastedChanges } from './pasted-cells.ts'

const attribute = (name: string, type: DatasetAttribute['type'], more: Partial<DatasetAttribute> = {}) =>
  ({ name, type, dbType: type, nullable: true, primaryKey: false, description: '', ...more }) as DatasetAttribute

const id = attribute('id', 'integer', { primaryKey: true, nullable: false })
const name = attribute('name', 'string')
const height = attribute('height', 'number')
const planted = attribute('planted', 'date', { nullable: false })
const rows = ['Oak', 'Elm', 'Ash'].map((text, index) => ({
  id: index + 1,
  row: { id: index + 1, name: text, height: 5, planted: '2020-01-01' },
}))

test('a pasted block becomes the changes of the cells that it differs from', () => {
  const block = [['Oak', '12.5'], ['Wych elm', '5'], ['Ash', '']] // biome-ignore format: a block
  assert.deepEqual(pastedChanges(block, { rows, columns: [name, height, planted] }), {
    changes: [
      { id: 1, column: 'height', before: 5, after: 12.5 },
      { id: 2, column: 'name', before: 'Elm', after: 'Wych elm' },
      { id: 3, column: 'height', before: 5, after: null },
    ],
  })
})

test('a block with a value of the wrong type changes nothing, and says where it is and what is allowed', () => {
  const error = (block: string[][], columns: DatasetAttribute[]) => {
    const pasted = pastedChanges(block, { rows, columns })
    return 'error' in pasted ? pasted.error : pasted
  }
  assert.equal(
    error([['1'], ['tall'], ['3,5']], [height]),
    'Row 2, height: “tall”. Must be a number such as 12.5. Row 3, height: “3,5”. Must be a number such as 12.5.',
  )
  assert.equal(error([['']], [planted]), 'Row 1, planted: “”. Type a value.')
  assert.match(String(error([['x'], ['x'], ['x'], ['x']], [name])), /4 rows, and the table ends after 3/)
  assert.match(String(error([['x', 'y']], [name])), /2 columns, and only 1/)
  assert.match(String(error([['7']], [id])), /“id” cannot be pasted into/)
  const tall = Array.from({ length: maxPastedRows + 1 }, () => ['x'])
  assert.match(String(error(tall, [name])), /at most 500 are pasted at once/)
})

test('rows that get the same value in place of the same value are one request, which names the value that they had', () => {
  const changes: CellChange[] = [
    { id: 1, column: 'height', before: 5, after: 6 },
    { id: 2, column: 'height', before: 5, after: 6 },
    { id: 3, column: 'height', before: null, after: 6 },
    { id: 3, column: 'name', before: 'Ash', after: 'Tall ash' },
  ]
  const requests = requestsOf(changes, [id])
  assert.deepEqual(
    requests.map((request) => [filterOf(request, [id, name, height]), request.after]),
    [
      [{ $and: [{ id: { $in: [1, 2] } }, { height: 5 }] }, { height: 6 }],
      [{ $and: [{ id: { $in: [3] } }, { height: null, name: 'Ash' }] }, { height: 6, name: 'Tall ash' }],
    ],
  )
  assert.deepEqual(requests.flatMap(rowRequests).map(({ ids }) => ids), [[1], [2], [3]]) // biome-ignore format: one line
  const real = attribute('height', 'number', { dbType: 'real' })
  const [request] = requestsOf([{ id: 1, column: 'height', before: 2, after: 6 }], [id])
  const nearly = { height: { $between: [2 - 2e-6, 2 + 2e-6] } }
  assert.deepEqual(request && filterOf(request, [id, real]), { $and: [{ id: { $in: [1] } }, nearly] })
  const many = Array.from({ length: 450 }, (_, index) => ({ id: index, column: 'height', before: 5, after: 6 }))
  assert.deepEqual(requestsOf(many, [id]).map(({ ids }) => ids.length), [200, 200, 50]) // biome-ignore format: one line
  assert.deepEqual(undone(undone(changes)), changes)
})

test('keys, long texts and values of JSON are edited in the form, all others in their place', () => {
  assert.deepEqual([id, name, attribute('data', 'json'), attribute('shape', 'geometry')].map(isInlineColumn), [
    false,
    true,
    false,
    false,
  ])
  assert.ok(!isInlineColumn(attribute('hour', 'time', { dbType: 'time with time zone' })))
  assert.deepEqual(['short', 'x'.repeat(300), 'two\nlines', 12, null].map(isInlineValue), [true, false, false, true, true]) // biome-ignore format: one line
  assert.deepEqual(readInline(name, typedDraft(name, '')), { value: '' })
  assert.deepEqual(readInline(height, typedDraft(height, '')), { value: null })
})
