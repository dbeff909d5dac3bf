import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CellAttribute, cellDraft, emptied, readCell } from './cell-draft.ts'
import { parseExact } from './exact-json.ts'

const attribute = (type: CellAttribute['type'], dbType = ''): CellAttribute => ({ type, dbType })

/** What the server answered, edited without a change, and sent back. */
function sentBack(type: CellAttribute['type'], answered: string): string {
  const read = readCell(attribute(type), cellDraft(attribute(type), parseExact(answered)))
  return JSON.stringify('value' in read ? read.value : read)
}

test('a value that is read and sent back is the same, to the last digit', () => {
  const answers = [
    ['integer', '12'],
    ['integer', '"9007199254740993"'],
    ['number', '12.5'],
    ['number', '"0.12345678901234567890"'],
    ['string', '"two\\nlines"'],
    ['boolean', 'false'],
    ['date', '"2027-01-31"'],
    ['datetime', '"2027-01-31T12:00:00.123456Z"'],
    ['time', '"12:30:00.5"'],
    ['json', '{"n":12345678901234567890.5,"list":[1e400,null,"x"]}'],
    ['array', '[9007199254740993,null]'],
    ['binary', '"AAEC"'],
    ['geometry', '{"type":"Point","coordinates":[24.94,60.17,3]}'],
    ['geometry', '{"type":"LineString","coordinates":[[0,0],[1,1]]}'],
    ['string', 'null'],
  ] as const
  for (const [type, answered] of answers) assert.equal(sentBack(type, answered), answered)
})

test('what is typed wrong is said in words, and an emptied field is null, a default or an empty text', () => {
  const typed = (type: CellAttribute['type'], text: string) => readCell(attribute(type), { mode: 'value', text })
  assert.deepEqual(typed('integer', '1.5'), { error: 'Must be a whole number such as 1000.' })
  assert.deepEqual(typed('array', '{"a": 1}'), { error: 'Must be a list in JSON, such as ["a", "b"].' })
  assert.deepEqual(typed('json', '{'), { error: 'Must be JSON, such as {"a": 1}.' })
  assert.ok('error' in typed('geometry', '12'))
  const point = readCell(attribute('geometry'), { mode: 'value', text: '', point: ['24', '91'] })
  assert.deepEqual(point, { error: 'Type a latitude in degrees from -90 to 90, such as 60.17.' })
  assert.deepEqual(readCell(attribute('time', 'time with time zone'), { mode: 'value', text: '12:30+02' }), {
    value: '12:30+02',
  })
  const nullable = { ...attribute('date'), nullable: true }
  assert.equal(emptied(nullable, false).mode, 'null')
  assert.equal(emptied(nullable, true).mode, 'default')
  assert.equal(emptied({ ...attribute('string'), nullable: true }, true).mode, 'value')
})
