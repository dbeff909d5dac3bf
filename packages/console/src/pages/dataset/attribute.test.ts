import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alignmentOf, formatCell, isSortable, typeLabel } from './attribute.ts'

const cell = (type: Parameters<typeof formatCell>[0]['type'], value: unknown, primaryKey = false) =>
  formatCell({ type, primaryKey }, value)
const digits = (text: string | null) => text?.replaceAll(/[^\d.-]/g, '')

test('whole numbers and decimals that a double cannot hold keep every digit', () => {
  assert.equal(digits(cell('integer', '9007199254740993')), '9007199254740993')
  assert.equal(digits(cell('number', '-12345678901234567890.12345678')), '-12345678901234567890.12345678')
  assert.equal(cell('number', 'NaN'), 'NaN')
  assert.notEqual(cell('integer', 1_519_711), '1519711')
})

test('a key is not grouped in thousands, because it is a name', () => {
  assert.equal(cell('integer', 1_519_711, true), '1519711')
})

test('no value is told from an empty text', () => {
  assert.equal(cell('string', null), null)
  assert.equal(cell('string', ''), '')
  assert.equal(cell('boolean', false), 'false')
})

test('structures are shown as JSON, bytes by their number, times without the T', () => {
  assert.equal(cell('json', { a: [1] }), '{"a":[1]}')
  assert.equal(cell('array', ['x']), '["x"]')
  assert.equal(cell('binary', 'AAECAw=='), '4 bytes')
  assert.equal(cell('datetime', '2026-01-31T10:00:00Z'), '2026-01-31 10:00:00Z')
})

test('alignment and sorting follow the type', () => {
  assert.deepEqual((['integer', 'number', 'string', 'uuid'] as const).map(alignmentOf), [
    'end',
    'end',
    'start',
    'start',
  ])
  assert.deepEqual((['date', 'json', 'geometry'] as const).map(isSortable), [true, false, false])
  assert.equal(typeLabel({ type: 'geometry', geometryType: 'Point' }), 'Geometry: Point')
})
