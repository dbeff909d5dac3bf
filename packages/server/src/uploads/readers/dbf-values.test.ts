import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../testing/mutations.ts'
import { createRowWriter } from './copy-binary.ts'
import type { Dbf } from './dbf.ts'
import { writeDbfValue } from './dbf-values.ts'

function written(text: string): number | null {
  const bytes = Buffer.from(text)
  const dbf = { window: { bytes } } as Dbf
  const field = { rawName: bytes, letter: 'N', offset: 0, width: bytes.length, decimals: 5, isBinary: false }
  const writer = createRowWriter()
  writeDbfValue(writer, dbf, field, 'number', 0, {
    encoding: 'utf-8',
    isUtf8: true,
    decode: String,
    warnings: [],
  })
  return writer.view.getInt32(0) < 0 ? null : writer.view.getFloat64(4)
}

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
