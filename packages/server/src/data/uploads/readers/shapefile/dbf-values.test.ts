import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../../../../../testing/uploads/mutations.ts'
import { createRowWriter } from '../engine/copy-binary.ts'
import { kind } from '../engine/type-inference.ts'
import { type DbfField, dbfFieldType } from './dbf.ts'
import { createTextFindings, textIn } from './dbf-text.ts'
import { createDbfRow } from './dbf-values.ts'
import type { ShapefileRecords } from './records.ts'

const rows = createRowWriter()

/** What becomes of a value of a column by itself. */
function writtenOf(text: string, letter: string, decimals: number) {
  // Nothing may be read of what lies around a value.
  const bytes = Buffer.from(`7${text}77777777`)
  const window = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) }
  const width = Buffer.byteLength(text)
  const field: DbfField = { rawName: bytes, letter, offset: 1, width, decimals, isBinary: false }
  const found = createTextFindings()
  const records = { dbf: { window, fields: [field] }, rowAt: 0 } as unknown as ShapefileRecords
  const row = createDbfRow(records, found, textIn('utf-8'))
  rows.length = 0
  const kinds = row.places.includes(0) ? row.kindsOf(0, 0) : 0
  const type = dbfFieldType(field, kinds)
  row.write(rows, 0, type)
  const isNull = rows.view.getInt32(0) < 0
  return {
    kinds,
    type,
    bytes: isNull ? null : Buffer.from(rows.bytes.subarray(4, rows.length)),
    words: found.words.words.size,
  }
}

const written = (text: string): number | null => writtenOf(text, 'N', 5).bytes?.readDoubleBE() ?? null

test('whole numbers are as wide as they need to be', () => {
  const random = randomOf(31)
  const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('')
  for (let round = 0; round < 20_000; round++) {
    const text = `${random(3) ? '' : '-'}${digits(1 + random(21))}`
    const value = BigInt(text)
    const { type, bytes } = writtenOf(text.padStart(random(30)), 'N', 0)
    const isHuge = value !== BigInt.asIntN(64, value)
    const isWide = value !== BigInt.asIntN(32, value)
    assert.equal(type, isHuge ? 'number' : isWide ? 'bigint' : 'integer', text)
    if (isHuge) assert.equal(bytes?.readDoubleBE(), Number(text), text)
    else assert.equal(isWide ? bytes?.readBigInt64BE() : BigInt(bytes?.readInt32BE() ?? 0), value, text)
  }
})

test('oddly written whole numbers are read, and what is none is null', () => {
  for (const text of ['', '   ', '-', '**', '1-2', '\0', '+', 'abc'])
    assert.deepEqual(writtenOf(text.padStart(4), 'N', 0), { kinds: kind.none, type: 'integer', bytes: null, words: 0 })
  for (const [text, value] of [
    ['+7', 7],
    ['7 ', 7],
    ['00100', 100],
    ['-0', 0],
  ] as const)
    assert.equal(writtenOf(text, 'N', 0).bytes?.readInt32BE(), value, text)
  for (const text of ['5.', '.5', '1e3']) {
    const { type, bytes } = writtenOf(text, 'N', 0)
    assert.deepEqual([type, bytes?.readDoubleBE()], ['number', Number(text)])
  }
})

test('text is written without the blanks behind it and without half a character', () => {
  for (const text of ['a', 'abcd', 'abcdefghi', 'ä', 'abcä', '     x', 'e\u0301xyzw'])
    for (const width of [0, 9, 16, 33]) {
      const found = writtenOf(text.padEnd(width), 'C', 0)
      assert.equal(String(found.bytes), text)
      assert.equal(found.words > 0, /[^\0-\x7f]/.test(text), text)
    }
  assert.equal(String(writtenOf('a\0b', 'C', 0).bytes), 'a\ufffdb')
  assert.equal(writtenOf('    ', 'C', 0).bytes, null)
})

test('dates are days, and what is none is null', () => {
  assert.equal(writtenOf('20240229', 'D', 0).bytes?.readInt32BE(), 8825)
  for (const text of ['20230229', '00000000', '        ', '2024022', '2024-2-9'])
    assert.equal(writtenOf(text, 'D', 0).bytes, null, text)
})

test('numbers are read as JavaScript reads them, to the last bit', () => {
  const random = randomOf(23)
  for (let round = 0; round < 100_000; round++) {
    const value = (random(2 ** 22) - 2 ** 21) * 10 ** (random(12) - 8) + random(1000) / 1000
    const text = random(2) ? value.toFixed(random(16)) : String(value)
    assert.equal(written(text.padStart(24)), Number(text), text)
  }
})

test('what is no number is null', () => {
  for (const text of ['', '   ', '*****', '-', '.', '1 2', '1-2', 'abc', '1.2.3'])
    assert.equal(written(text.padStart(8)), null, text)
  for (const [text, value] of [
    ['5  ', 5],
    ['+7', 7],
    ['1e3', 1000],
    ['.5', 0.5],
    ['0', 0],
    ['-0.00', -0],
    ['00100', 100],
  ] as const)
    assert.equal(written(text), value, text)
})
