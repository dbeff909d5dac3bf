import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../testing/uploads/random.ts'
import type { Attribute } from '../values/attribute.ts'
import { filterPredicate } from './filter-predicate.ts'
import { periodFilter, readPeriod } from './time-period.ts'

const read = (text: string) => {
  const { from, to } = readPeriod(text, 'query/time')
  return [from, to?.at, to?.isIncluded]
}

test('a part of a date is the whole of it, an instant itself, and a slash is everything between', () => {
  const of = (
    from: string | undefined,
    to: string | undefined,
    isIncluded: boolean | undefined = to === undefined ? undefined : false,
  ) => {
    const full = (at: string | undefined) => at && `${at}${'-01-01T00:00:00.000000Z'.slice(at.length - 4)}`
    return [full(from), full(to), isIncluded]
  }
  assert.deepEqual(read('2024'), of('2024', '2025'))
  assert.deepEqual(read('2024-12'), of('2024-12', '2025-01'))
  assert.deepEqual(read('2024-02-29'), of('2024-02-29', '2024-03-01'))
  assert.deepEqual(read('2024-02-29T23'), of('2024-02-29T23', '2024-03-01'))
  assert.deepEqual(read('2024-02-29T22:59'), of('2024-02-29T22:59', '2024-02-29T23'))
  assert.deepEqual(read('2024-01/2024-03'), of('2024-01', '2024-04'))
  assert.deepEqual(read('../2024'), of(undefined, '2025'))
  assert.deepEqual(read('/2024'), of(undefined, '2025'))
  assert.deepEqual(read('2024/..'), of('2024', undefined))
  const noon = '2024-03-31T12:00:00.000000Z'
  for (const text of [
    '2024-03-31T12:00:00Z',
    '2024-03-31T12:00:00',
    '2024-03-31T14:00:00+02:00',
    '2024-03-31t14:00:00 02:00',
  ]) {
    assert.deepEqual(read(text), [noon, noon, true], text)
  }
  assert.deepEqual(read('2024-03-31T14+02:00'), of('2024-03-31T12', '2024-03-31T13'))
  assert.deepEqual(read('2024-03-31T12:00:00.1234567Z/..'), ['2024-03-31T12:00:00.123456Z', undefined, undefined])
  assert.deepEqual(read('9999'), ['9999-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.999999Z', true])
})

test('what is no period is refused with what is one', () => {
  const wrong = [
    '',
    '..',
    '../..',
    '/',
    'today',
    '2024-13',
    '2023-02-29',
    '24',
    '20240',
    '2024/2025/2026',
    '2024-1',
    '0000',
  ]
  for (const text of [...wrong, '2024-01-01T24:00:00Z', '2024-01-01T12:00:00+16:00', '-2024', '2024-01-01Z', ' 2024']) {
    assert.throws(() => read(text), /query\/time: must be a year, month, day, hour or instant, or two of them/, text)
  }
  for (const text of ['2025/2024', '2024-02/2024-01', '2024-01-01T00:00:01Z/2024-01-01T00:00:00Z']) {
    assert.throws(() => read(text), /must begin before it ends/, text)
  }
})

test('a row meets a period if its time, day or span has a part of it', () => {
  const random = createRandom(Number(process.env.TEST_SEED ?? 1))
  const attribute = (name: string, type: 'date' | 'datetime'): Attribute => ({ name, type })
  const [at, day, start, end] = [
    attribute('at', 'datetime'),
    attribute('day', 'date'),
    attribute('start', 'datetime'),
    attribute('end', 'datetime'),
  ] as const
  const base = Date.parse('2024-02-27T00:00:00Z')
  const hour = 3_600_000
  const moment = () => base + Math.floor(random() * 100) * hour
  const iso = (ms: number) => new Date(ms).toISOString()
  for (let round = 0; round < 500; round++) {
    const [from, to] = [moment(), moment()].sort((a, b) => a - b) as [number, number]
    const byDay = random() < 0.5
    const text = byDay ? `${iso(from).slice(0, 10)}/${iso(to).slice(0, 10)}` : `${iso(from)}/${iso(to)}`
    const dayOf = (ms: number) => Math.floor(ms / 86_400_000) * 86_400_000
    // The period as [low, high).
    const [low, high] = byDay ? [dayOf(from), dayOf(to) + 86_400_000] : [from, to + 1]
    const period = readPeriod(text, 'query/time')
    const [one, other] = [moment(), moment()].sort((a, b) => a - b) as [number, number]
    const meets = (a: Attribute, b: Attribute, row: object, keepsUntimed = false) =>
      filterPredicate(periodFilter(period, { start: a, end: b, keepsUntimed }, 'query/time'))(row as never) === true
    assert.equal(meets(at, at, { at: iso(one) }), one >= low && one < high, text)
    assert.equal(
      meets(day, day, { day: iso(one).slice(0, 10) }),
      dayOf(one) + 86_400_000 > low && dayOf(one) < high,
      text,
    )
    assert.equal(meets(start, end, { start: iso(one), end: iso(other) }), other >= low && one < high, text)
    assert.equal(meets(start, end, { start: null, end: iso(other) }), other >= low, text)
    assert.equal(meets(start, end, { start: iso(one), end: null }), one < high, text)
    for (const keeps of [true, false]) {
      assert.equal(meets(at, at, { at: null }, keeps), keeps)
      assert.equal(meets(start, end, { start: null, end: null }, keeps), keeps)
    }
  }
})
