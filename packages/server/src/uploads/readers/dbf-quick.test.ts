import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../testing/mutations.ts'
import { createRowWriter } from './copy-binary.ts'
import { createDbfFindings, type Dbf, type DbfFindings, dbfFieldType } from './dbf.ts'
import { takenColumn, takeOddValue, takeValue } from './dbf-quick.ts'
import { createTextFindings, dbfText } from './dbf-text.ts'
import { noteValue, writeDbfValue } from './dbf-values.ts'

const text = dbfText({ option: undefined, cpg: 'UTF-8', languageDriver: 0 }, [], createTextFindings())
const writer = createRowWriter()

function columnOf(letter: string, value: Buffer, decimals: number, findings: DbfFindings) {
  // Nothing may be read of what lies around a value.
  const bytes = Buffer.concat([Buffer.from('7'), value, Buffer.from('77777777')])
  const dbf = { window: { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) } } as Dbf
  const field = { rawName: bytes, letter, offset: 1, width: value.length, decimals, isBinary: false }
  return { dbf, field, type: dbfFieldType(field, findings) }
}

/** What is written of the value in one go, and what is known of its column then. */
function taken(letter: string, value: Buffer, decimals: number, before: DbfFindings) {
  const findings = { ...before }
  const { dbf, field, type } = columnOf(letter, value, decimals, findings)
  const column = takenColumn(field, type, findings)
  writer.length = 0
  const isPlain = takeValue(writer, dbf, column, 0)
  const found = createTextFindings()
  if (!isPlain) takeOddValue(writer, dbf, column, 0, text, found)
  return { isPlain, found, ...seen(writer.bytes.subarray(0, writer.length), findings, letter, decimals) }
}

/** The same in two steps. */
function looked(letter: string, value: Buffer, decimals: number, before: DbfFindings) {
  const findings = { ...before }
  const { dbf, field, type } = columnOf(letter, value, decimals, findings)
  const found = createTextFindings()
  noteValue(dbf, field, 0, findings, found)
  writer.length = 0
  if (dbfFieldType(field, findings) === type) writeDbfValue(writer, dbf, field, type, 0, text)
  else writer.length = writer.bytes.writeInt32BE(-1)
  return { found, ...seen(writer.bytes.subarray(0, writer.length), findings, letter, decimals) }
}

function seen(bytes: Buffer, findings: DbfFindings, letter: string, decimals: number) {
  const { type } = columnOf(letter, Buffer.alloc(0), decimals, findings)
  return { bytes: bytes.toString('hex'), type, isNull: 'CN'.includes(letter) && findings.isNull }
}

const numbers = ['', '-', '.', '-.', '0', '-0', '00', '5.', '.5', '1e3', '+7', '7 ', '\0', '1\0', '**', '1.2.3', '1-2']
const limits = ['2147483647', '2147483648', '-2147483648', '-2147483649', '999999999999999', '9223372036854775808']
const words = [
  '',
  'a',
  'abcd',
  'abcdefghi',
  'ä',
  'abcä',
  'a\0b',
  'a\0bcdefg',
  'abcdefg\0',
  '\0',
  'e\u0301xyzw',
  '     x',
]
const dates = ['20240229', '20230229', '00000000', '        ', '2024022', '2024-2-9', 'ä024022', '20240229 ']

test('a value that is taken in one go is written and known as one that is looked at first', () => {
  const random = randomOf(31)
  const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('')
  const number = () => `${random(3) ? '' : '-'}${digits(random(14))}${random(3) ? `.${digits(random(17))}` : ''}`
  let plain = 0
  const compare = (letter: string, value: string, decimals: number, before: DbfFindings) => {
    const bytes = Buffer.from(value)
    const { isPlain, ...found } = taken(letter, bytes, decimals, before)
    if (isPlain) plain++
    assert.deepEqual(
      found,
      looked(letter, bytes, decimals, before),
      JSON.stringify({ letter, value, decimals, before }),
    )
  }
  const none = createDbfFindings()
  for (const before of [none, { ...none, isWide: true }, { ...none, isDecimal: true }]) {
    for (let round = 0; round < 20_000; round++) {
      const value = round < numbers.length ? numbers[round] : (limits[round - numbers.length] ?? number())
      for (const letter of ['N', 'F']) compare(letter, (value ?? '').padStart(random(30)), random(2) * 15, before)
    }
  }
  for (const word of words) for (const width of [0, 9, 16, 33]) compare('C', word.padEnd(width), 0, none)
  for (const date of dates) compare('D', date, 0, none)
  assert.ok(plain > 60_000)
  // Text that is cut in the middle of a character.
  assert.deepEqual(
    taken('C', Buffer.from('abä').subarray(0, 3), 0, none).bytes,
    looked('C', Buffer.from('abä').subarray(0, 3), 0, none).bytes,
  )
})
