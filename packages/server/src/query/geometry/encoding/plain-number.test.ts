import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../../../../testing/uploads/mutations.ts'
import { maxDecimals, nearestDecimal, readPlainNumber, wholeLimit } from './plain-number.ts'

const read = (text: string) => {
  const place = { at: 0, hasPoint: false }
  const value = readPlainNumber(Buffer.from(`${text},`), place)
  return { value, ...place }
}

test('a plain number is the one that JavaScript reads, to the last bit', () => {
  let state = 1
  const digit = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 16) % 10
  }
  let plain = 0
  for (let round = 0; round < 200_000; round++) {
    const digits = (count: number) => Array.from({ length: count }, digit).join('')
    const whole = String(Number(digits(1 + (digit() % 9))))
    const text = `${digit() < 5 ? '-' : ''}${whole}${digit() < 8 ? `.${digits(1 + digit() + (digit() % 8))}` : ''}`
    const { value, at, hasPoint } = read(text)
    assert.equal(at, text.length, text)
    assert.equal(hasPoint, text.includes('.'), text)
    if (Number.isNaN(value)) continue
    plain++
    assert.ok(Object.is(value, Number(text)), text)
  }
  assert.ok(plain > 100_000)
})

test('what is written otherwise or needs more digits is left to others', () => {
  for (const text of [
    '',
    '-',
    '+1',
    '01',
    '-00',
    '1.',
    '.5',
    'x',
    '1234567890',
    '0.12345678901234567',
    '17.1234567890123456',
  ])
    assert.ok(Number.isNaN(read(text).value), text)
  for (const text of ['0', '-0', '7', '999999999', '0.5', '-0.0', '123456789.1234567'])
    assert.ok(Object.is(read(text).value, Number(text)), text)
})

test('of up to 15 decimals the nearest double is found, to the last bit', () => {
  const random = randomOf(7)
  const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('')
  for (let round = 0; round < 200_000; round++) {
    const scale = 1 + random(maxDecimals)
    const whole = Math.min(Number(digits(random(13))), wholeLimit - 1)
    // As they are written of doubles: most digits behind the point are nines or zeros.
    const fraction =
      random(2) === 0 ? digits(scale) : (random(1000) / 1000 + whole).toFixed(scale).split('.')[1]?.padEnd(scale, '0')
    const text = `${whole}.${fraction}`
    assert.ok(Object.is(nearestDecimal(whole, Number(fraction), scale), Number(text)), text)
  }
})
