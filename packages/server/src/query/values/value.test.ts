import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScalarType } from './attribute.ts'
import { canonicalText, compareValues } from './value.ts'

function accepts(type: ScalarType, values: readonly (readonly [unknown, string])[]): void {
  for (const [raw, expected] of values) assert.equal(canonicalText(type, raw), expected, `${type} ${String(raw)}`)
}

function refuses(type: ScalarType, values: readonly unknown[]): void {
  for (const raw of values) assert.equal(canonicalText(type, raw), undefined, `${type} ${String(raw)}`)
}

test('integers are exact in 64 bits', () => {
  accepts('integer', [
    [5, '5'],
    ['-5', '-5'],
    ['+5', '5'],
    ['007', '7'],
    ['-0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])
  refuses('integer', ['9223372036854775808', '-9223372036854775809', 1.5, '1.5', '', ' 1', '0x1', '1e3', true, NaN, []])
})

test('numbers are finite decimals within the range of a double and keep their digits', () => {
  accepts('number', [
    [1.5, '1.5'],
    [1e21, '1e+21'],
    ['.5', '.5'],
    ['-1.50', '-1.50'],
    ['12345678901234567890.123456789', '12345678901234567890.123456789'],
    ['0e9999999', '0'],
    ['-0.0', '0'],
  ])
  refuses('number', ['NaN', 'Infinity', '-Infinity', Infinity, '1e400', '1e-400', '1,5', '', '.', '1_0', '0x1', true])
})

test('a boolean is read from true and false, and from nothing else', () => {
  accepts(
    'boolean',
    [true, 'true', 1, '1'].map((raw) => [raw, 'true'] as const),
  )
  accepts(
    'boolean',
    [false, 'false', 0, '0'].map((raw) => [raw, 'false'] as const),
  )
  refuses('boolean', ['yes', 'TRUE', 2, '', null])
})

test('dates exist in the calendar', () => {
  accepts('date', [
    ['2024-02-29', '2024-02-29'],
    ['2000-02-29', '2000-02-29'],
    ['0001-01-01', '0001-01-01'],
  ])
  refuses('date', ['2023-02-29', '1900-02-29', '2024-04-31', '2024-13-01', '2024-00-01', '2024-01-00', '0000-01-01'])
  refuses('date', ['24-01-01', '2024-1-1', '2024-01-01T00:00:00Z', '20240101', 20240101])
})

test('datetimes are UTC to the microsecond', () => {
  accepts('datetime', [
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000000Z'],
    ['2024-02-29T12:00:00', '2024-02-29T12:00:00.000000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000000Z'],
    ['2024-02-29 12:00', '2024-02-29T12:00:00.000000Z'],
    ['2024-02-29t12:00:00.1z', '2024-02-29T12:00:00.100000Z'],
    ['2024-02-29T00:30:00.123456+01:00', '2024-02-28T23:30:00.123456Z'],
    ['2024-02-29T23:30:00-0530', '2024-03-01T05:00:00.000000Z'],
    ['2024-02-29T12:00:00+02', '2024-02-29T10:00:00.000000Z'],
    ['2024-02-29T12:00:00.123456789Z', '2024-02-29T12:00:00.123456Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000000Z'],
  ])
  refuses('datetime', ['2024-02-30T00:00:00Z', '2024-02-29T24:00:00Z', '2024-02-29T12:00:60Z', '2024-02-29Z', 'now'])
  refuses('datetime', ['2024-02-29T12:00:00+16:00', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00', 0])
  refuses('datetime', ['2024-02-29T12:00:00 Europe/Berlin', '2024-02-29T12', '2024-02-29T12:00:00.Z'])
})

test('times and UUIDs are read in their canonical forms, and nothing else is', () => {
  accepts('time', [
    ['12:30', '12:30:00.000000'],
    ['23:59:59.5', '23:59:59.500000'],
  ])
  refuses('time', ['24:00', '12:60', '1:00', '12:30Z', 1230])
  accepts('uuid', [['3FA85F64-5717-4562-B3FC-2C963F66AFA6', '3fa85f64-5717-4562-b3fc-2c963f66afa6']])
  refuses('uuid', ['3fa85f64571745628b3fc2c963f66afa6', '{3fa85f64-5717-4562-b3fc-2c963f66afa6}', 'x', 1])
})

test('a whole number is text too, but no other value is', () => {
  accepts('string', [
    ['', ''],
    [5, '5'],
  ])
  refuses('string', [1.5, 2 ** 53, true, null, {}, []])
})

test('strings are ordered by code point, not by UTF-16 unit', () => {
  assert.ok(compareValues('\u{ffee}', '😀') < 0)
  assert.ok(compareValues('Z', 'a') < 0)
  assert.equal(compareValues('ä', 'ä'), 0)
})
